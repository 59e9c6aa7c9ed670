package dhcp4

// laid is where the options of a message went.
type laid struct {
	options, file, sname []byte // with End; file and sname empty when not used
	dropped              []Code
	tooLong              bool
}

// layout places options into a message whose options field takes size bytes. What does not fit there
// goes to the file and sname fields (RFC 2132 section 9.3), an option whole into one field; what fits
// nowhere is dropped. The tail is put last into the options field.
func layout(size int, mandatory, optional, tail []Option) laid {
	var end []byte
	for _, o := range tail {
		end = appendOption(end, o)
	}
	end = append(end, byte(dhcpEnd))
	fields := laid{}
	room := size - len(end)
	for _, o := range mandatory {
		fields.options = appendOption(fields.options, o)
	}
	if len(fields.options) > room {
		fields.tooLong = true
		return fields
	}
	if total := len(fields.options) + bytesOf(optional); total <= room {
		for _, o := range optional {
			fields.options = appendOption(fields.options, o)
		}
	} else {
		fields.spread(room, optional)
	}
	fields.options = append(fields.options, end...)
	return fields
}

// dhcpEnd ends a field of options (RFC 2132 section 3.2).
const dhcpEnd = 255

// overloadBytes is the length of option 52 itself.
const overloadBytes = 3

// spread places optional options into all three fields, each field's End included.
func (l *laid) spread(room int, optional []Option) {
	const file, sname = fileEnd - fileStart - 1, fileStart - snameStart - 1
	for _, o := range optional {
		n := bytesOf([]Option{o})
		switch {
		case len(l.options)+n+overloadBytes <= room:
			l.options = appendOption(l.options, o)
		case len(l.options)+overloadBytes <= room && len(l.file)+n <= file:
			l.file = appendOption(l.file, o)
		case len(l.options)+overloadBytes <= room && len(l.sname)+n <= sname:
			l.sname = appendOption(l.sname, o)
		default:
			l.dropped = append(l.dropped, o.Code)
		}
	}
	var overload byte
	if len(l.file) > 0 {
		l.file = append(l.file, dhcpEnd)
		overload |= overloadFile
	}
	if len(l.sname) > 0 {
		l.sname = append(l.sname, dhcpEnd)
		overload |= overloadSname
	}
	if overload != 0 {
		l.options = appendOption(l.options, Option{CodeOverload, []byte{overload}})
	}
}

// appendOption encodes an option; a value beyond 255 bytes goes on in further instances (RFC 3396
// section 5).
func appendOption(b []byte, o Option) []byte {
	for value := o.Value; ; {
		n := min(len(value), 255)
		b = append(b, byte(o.Code), byte(n))
		b = append(b, value[:n]...)
		if value = value[n:]; len(value) == 0 {
			return b
		}
	}
}

func bytesOf(options []Option) int {
	n := 0
	for _, o := range options {
		n += len(o.Value) + 2*max((len(o.Value)+254)/255, 1)
	}
	return n
}
