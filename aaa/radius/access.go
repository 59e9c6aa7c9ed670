package radius

import (
	"errors"
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"vbng/aaa"
)

// describeRequest fills an Access-Request whose authenticator and secret are set.
func describeRequest(p *radius.Packet, r aaa.Request, n nas) error {
	p.Add(rfc2869.MessageAuthenticator_Type, make([]byte, 16)) // first: packet.go fills it in
	if r.Username == "" {
		return errors.New("the user name is empty")
	}
	addText(p, rfc2865.UserName_Type, r.Username)
	if err := describeCredentials(p, r); err != nil {
		return err
	}
	describeNAS(p, n)
	describeLine(p, r.Line)
	addText(p, rfc2866.AcctSessionID_Type, r.AcctSessionID)
	return nil
}

func describeCredentials(p *radius.Packet, r aaa.Request) error {
	switch r.Method {
	case aaa.PAP, aaa.ByLine: // a line has no words of its own: the password is the profile's
		hidden, err := radius.NewUserPassword(r.Password, p.Secret, p.Authenticator[:])
		if err != nil {
			return fmt.Errorf("hide User-Password: %w", err)
		}
		p.Add(rfc2865.UserPassword_Type, hidden)
	case aaa.CHAPMD5:
		if len(r.CHAPResponse) != 16 { // RFC 2865 5.3
			return fmt.Errorf("CHAP response of %d octets", len(r.CHAPResponse))
		}
		if len(r.CHAPChallenge) == 0 {
			return errors.New("the CHAP challenge is empty")
		}
		p.Add(rfc2865.CHAPPassword_Type, append([]byte{r.CHAPID}, r.CHAPResponse...))
		p.Add(rfc2865.CHAPChallenge_Type, append([]byte(nil), r.CHAPChallenge...))
	default:
		return fmt.Errorf("authentication method %v", r.Method)
	}
	return nil
}
