package radius

import "fmt"

// attributeName is an attribute's name as the RFCs write it (IANA registry "RADIUS Types").
func attributeName(t byte) string {
	if name := attributeNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("Attribute-%d", t)
}

// vendorName is a vendor by its private enterprise number.
func vendorName(vendor uint32) string {
	if name, ok := vendorNames[vendor]; ok {
		return name
	}
	return fmt.Sprintf("Vendor-%d", vendor)
}

// vendorAttributeName is "MS-Primary-DNS-Server" or, when it has no name here, "Cisco attribute 99".
func vendorAttributeName(vendor uint32, t byte) string {
	if name, ok := vendorAttributeNames[vendorAttribute{vendor, t}]; ok {
		return name
	}
	return fmt.Sprintf("%s attribute %d", vendorName(vendor), t)
}

type vendorAttribute struct {
	vendor uint32
	number byte
}

var attributeNames = [256]string{
	1: "User-Name", 2: "User-Password", 3: "CHAP-Password", 4: "NAS-IP-Address", 5: "NAS-Port",
	6: "Service-Type", 7: "Framed-Protocol", 8: "Framed-IP-Address", 9: "Framed-IP-Netmask",
	10: "Framed-Routing", 11: "Filter-Id", 12: "Framed-MTU", 13: "Framed-Compression", 14: "Login-IP-Host",
	15: "Login-Service", 16: "Login-TCP-Port", 18: "Reply-Message", 19: "Callback-Number", 20: "Callback-Id",
	22: "Framed-Route", 23: "Framed-IPX-Network", 24: "State", 25: "Class", 26: "Vendor-Specific",
	27: "Session-Timeout", 28: "Idle-Timeout", 29: "Termination-Action", 30: "Called-Station-Id",
	31: "Calling-Station-Id", 32: "NAS-Identifier", 33: "Proxy-State", 34: "Login-LAT-Service",
	35: "Login-LAT-Node", 36: "Login-LAT-Group", 37: "Framed-AppleTalk-Link", 38: "Framed-AppleTalk-Network",
	39: "Framed-AppleTalk-Zone", 40: "Acct-Status-Type", 41: "Acct-Delay-Time", 42: "Acct-Input-Octets",
	43: "Acct-Output-Octets", 44: "Acct-Session-Id", 45: "Acct-Authentic", 46: "Acct-Session-Time",
	47: "Acct-Input-Packets", 48: "Acct-Output-Packets", 49: "Acct-Terminate-Cause",
	50: "Acct-Multi-Session-Id", 51: "Acct-Link-Count", 52: "Acct-Input-Gigawords",
	53: "Acct-Output-Gigawords", 55: "Event-Timestamp", 56: "Egress-VLANID", 57: "Ingress-Filters",
	58: "Egress-VLAN-Name", 59: "User-Priority-Table", 60: "CHAP-Challenge", 61: "NAS-Port-Type",
	62: "Port-Limit", 63: "Login-LAT-Port", 64: "Tunnel-Type", 65: "Tunnel-Medium-Type",
	66: "Tunnel-Client-Endpoint", 67: "Tunnel-Server-Endpoint", 68: "Acct-Tunnel-Connection",
	69: "Tunnel-Password", 70: "ARAP-Password", 71: "ARAP-Features", 72: "ARAP-Zone-Access",
	73: "ARAP-Security", 74: "ARAP-Security-Data", 75: "Password-Retry", 76: "Prompt", 77: "Connect-Info",
	78: "Configuration-Token", 79: "EAP-Message", 80: "Message-Authenticator", 81: "Tunnel-Private-Group-Id",
	82: "Tunnel-Assignment-Id", 83: "Tunnel-Preference", 84: "ARAP-Challenge-Response",
	85: "Acct-Interim-Interval", 86: "Acct-Tunnel-Packets-Lost", 87: "NAS-Port-Id", 88: "Framed-Pool",
	89: "Chargeable-User-Identity", 90: "Tunnel-Client-Auth-Id", 91: "Tunnel-Server-Auth-Id",
	92: "NAS-Filter-Rule", 94: "Originating-Line-Info", 95: "NAS-IPv6-Address", 96: "Framed-Interface-Id",
	97: "Framed-IPv6-Prefix", 98: "Login-IPv6-Host", 99: "Framed-IPv6-Route", 100: "Framed-IPv6-Pool",
	101: "Error-Cause", 102: "EAP-Key-Name", 103: "Digest-Response", 104: "Digest-Realm", 105: "Digest-Nonce",
	106: "Digest-Response-Auth", 107: "Digest-Nextnonce", 108: "Digest-Method", 109: "Digest-URI",
	110: "Digest-Qop", 111: "Digest-Algorithm", 112: "Digest-Entity-Body-Hash", 113: "Digest-CNonce",
	114: "Digest-Nonce-Count", 115: "Digest-Username", 116: "Digest-Opaque", 117: "Digest-Auth-Param",
	118: "Digest-AKA-Auts", 119: "Digest-Domain", 120: "Digest-Stale", 121: "Digest-HA1", 122: "SIP-AOR",
	123: "Delegated-IPv6-Prefix", 126: "Operator-Name", 127: "Location-Information", 128: "Location-Data",
	129: "Basic-Location-Policy-Rules", 130: "Extended-Location-Policy-Rules", 131: "Location-Capable",
	132: "Requested-Location-Info", 133: "Framed-Management", 134: "Management-Transport-Protection",
	135: "Management-Policy-Id", 136: "Management-Privilege-Level", 137: "PKM-SS-Cert", 138: "PKM-CA-Cert",
	139: "PKM-Config-Settings", 140: "PKM-Cryptosuite-List", 141: "PKM-SAID", 142: "PKM-SA-Descriptor",
	143: "PKM-Auth-Key", 144: "DS-Lite-Tunnel-Name", 145: "Mobile-Node-Identifier", 146: "Service-Selection",
	147: "PMIP6-Home-LMA-IPv6-Address", 148: "PMIP6-Visited-LMA-IPv6-Address",
	149: "PMIP6-Home-LMA-IPv4-Address", 150: "PMIP6-Visited-LMA-IPv4-Address", 151: "PMIP6-Home-HN-Prefix",
	152: "PMIP6-Visited-HN-Prefix", 153: "PMIP6-Home-Interface-ID", 154: "PMIP6-Visited-Interface-ID",
	155: "PMIP6-Home-IPv4-HoA", 156: "PMIP6-Visited-IPv4-HoA", 157: "PMIP6-Home-DHCP4-Server-Address",
	158: "PMIP6-Visited-DHCP4-Server-Address", 159: "PMIP6-Home-DHCP6-Server-Address",
	160: "PMIP6-Visited-DHCP6-Server-Address", 161: "PMIP6-Home-IPv4-Gateway",
	162: "PMIP6-Visited-IPv4-Gateway", 163: "EAP-Lower-Layer", 164: "GSS-Acceptor-Service-Name",
	165: "GSS-Acceptor-Host-Name", 166: "GSS-Acceptor-Service-Specifics", 167: "GSS-Acceptor-Realm-Name",
	168: "Framed-IPv6-Address", 169: "DNS-Server-IPv6-Address", 170: "Route-IPv6-Information",
	171: "Delegated-IPv6-Prefix-Pool", 172: "Stateful-IPv6-Address-Pool", 174: "Allowed-Called-Station-Id",
	175: "EAP-Peer-Id", 176: "EAP-Server-Id", 177: "Mobility-Domain-Id", 178: "Preauth-Timeout",
	179: "Network-Id-Name", 180: "EAPoL-Announcement", 181: "WLAN-HESSID", 182: "WLAN-Venue-Info",
	183: "WLAN-Venue-Language", 184: "WLAN-Venue-Name", 185: "WLAN-Reason-Code", 186: "WLAN-Pairwise-Cipher",
	187: "WLAN-Group-Cipher", 188: "WLAN-AKM-Suite", 189: "WLAN-Group-Mgmt-Cipher", 190: "WLAN-RF-Band",
}

var vendorNames = map[uint32]string{
	9: "Cisco", 311: "Microsoft", 529: "Ascend", 2011: "Huawei", 2352: "Redback", 2636: "Juniper",
	3561: "ADSL-Forum", 3902: "ZTE", 4874: "ERX", 6527: "Alcatel-SR", 10415: "3GPP", 11344: "FreeRADIUS",
	14122: "WISPr", 14988: "Mikrotik", 25506: "H3C", 50058: "RtBrick", 55999: "accel-ppp",
}

// vendorAttributeNames are those that access servers are often sent.
var vendorAttributeNames = map[vendorAttribute]string{
	{9, 1}: "Cisco-AVPair", {9, 2}: "Cisco-NAS-Port", {9, 37}: "Cisco-Policy-Up",
	{9, 38}: "Cisco-Policy-Down", {9, 250}: "Cisco-Account-Info", {9, 251}: "Cisco-Service-Info",
	{9, 252}: "Cisco-Command-Code", {311, 1}: "MS-CHAP-Response", {311, 2}: "MS-CHAP-Error",
	{311, 3}: "MS-CHAP-CPW-1", {311, 4}: "MS-CHAP-CPW-2", {311, 5}: "MS-CHAP-LM-Enc-PW",
	{311, 6}: "MS-CHAP-NT-Enc-PW", {311, 7}: "MS-MPPE-Encryption-Policy",
	{311, 8}: "MS-MPPE-Encryption-Types", {311, 9}: "MS-RAS-Vendor", {311, 10}: "MS-CHAP-Domain",
	{311, 11}: "MS-CHAP-Challenge", {311, 12}: "MS-CHAP-MPPE-Keys", {311, 13}: "MS-BAP-Usage",
	{311, 14}: "MS-Link-Utilization-Threshold", {311, 15}: "MS-Link-Drop-Time-Limit",
	{311, 16}: "MS-MPPE-Send-Key", {311, 17}: "MS-MPPE-Recv-Key", {311, 18}: "MS-RAS-Version",
	{311, 19}: "MS-Old-ARAP-Password", {311, 20}: "MS-New-ARAP-Password",
	{311, 21}: "MS-ARAP-PW-Change-Reason", {311, 22}: "MS-Filter", {311, 23}: "MS-Acct-Auth-Type",
	{311, 24}: "MS-Acct-EAP-Type", {311, 25}: "MS-CHAP2-Response", {311, 26}: "MS-CHAP2-Success",
	{311, 27}: "MS-CHAP2-CPW", {311, 28}: "MS-Primary-DNS-Server", {311, 29}: "MS-Secondary-DNS-Server",
	{311, 30}: "MS-Primary-NBNS-Server", {311, 31}: "MS-Secondary-NBNS-Server",
	{311, 34}: "MS-RAS-Client-Name", {311, 35}: "MS-RAS-Client-Version", {311, 36}: "MS-Quarantine-IPFilter",
	{311, 37}: "MS-Quarantine-Session-Timeout", {3561, 1}: "ADSL-Agent-Circuit-Id",
	{3561, 2}: "ADSL-Agent-Remote-Id", {4874, 1}: "ERX-Virtual-Router-Name",
	{4874, 2}: "ERX-Address-Pool-Name", {4874, 4}: "ERX-Primary-Dns", {4874, 5}: "ERX-Secondary-Dns",
	{4874, 10}: "ERX-Ingress-Policy-Name", {4874, 11}: "ERX-Egress-Policy-Name",
	{4874, 22}: "ERX-Sa-Validate", {4874, 23}: "ERX-Igmp-Enable", {4874, 26}: "ERX-Qos-Profile-Name",
	{4874, 27}: "ERX-Pppoe-Max-Sessions", {4874, 28}: "ERX-Pppoe-Url", {4874, 34}: "ERX-Framed-Ip-Route-Tag",
	{4874, 65}: "ERX-Service-Activate", {4874, 66}: "ERX-Service-Deactivate",
	{4874, 82}: "ERX-Qos-Parameters", {4874, 108}: "ERX-CoS-Shaping-Pmt-Type",
	{4874, 140}: "ERX-Service-Acct-Interval", {4874, 174}: "ERX-Client-Profile-Name",
	{14122, 4}: "WISPr-Redirection-URL", {14122, 5}: "WISPr-Bandwidth-Min-Up",
	{14122, 6}: "WISPr-Bandwidth-Min-Down", {14122, 7}: "WISPr-Bandwidth-Max-Up",
	{14122, 8}: "WISPr-Bandwidth-Max-Down", {14122, 9}: "WISPr-Session-Terminate-Time",
	{14988, 1}: "Mikrotik-Recv-Limit", {14988, 2}: "Mikrotik-Xmit-Limit", {14988, 3}: "Mikrotik-Group",
	{14988, 8}: "Mikrotik-Rate-Limit", {14988, 14}: "Mikrotik-Recv-Limit-Gigawords",
	{14988, 15}: "Mikrotik-Xmit-Limit-Gigawords", {14988, 17}: "Mikrotik-Total-Limit",
	{14988, 18}: "Mikrotik-Total-Limit-Gigawords", {14988, 19}: "Mikrotik-Address-List",
	{14988, 22}: "Mikrotik-Delegated-IPv6-Pool",
}
