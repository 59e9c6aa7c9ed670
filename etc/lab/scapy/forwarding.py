"""Sends packets that a router must answer, or must not, and judges the answers with scapy's decoders.

usage: forwarding.py DEVICE ROUTER-MAC OWN4 OWN6 SOURCE4 SOURCE6 MTU WAY4 WAY6 DROP4 DROP6

SOURCE is who the router speaks as here, WAY an address behind a hop with MTU, DROP one that its route discards.
Prints a line "RESULT name ok", or what came instead.
"""
import sys
import time

from scapy.all import (AsyncSniffer, Ether, ICMP, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6TimeExceeded, ICMPv6DestUnreach,
                       IP, IPerror, IPerror6, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPOption_Router_Alert, Raw, UDP, conf, sendp)

device, router, own4, own6, source4, source6 = sys.argv[1:7]
mtu = int(sys.argv[7])
way4, way6, drop4, drop6 = sys.argv[8:12]
conf.verb = 0
own_mac = open(f"/sys/class/net/{device}/address").read().strip()
ident = 0x4000


def four(dst=way4, **fields):
    global ident
    ident += 1
    return IP(src=own4, dst=dst, id=ident, **fields)


def six(dst=way6, **fields):
    return IPv6(src=own6, dst=dst, **fields)


def udp(size):
    return UDP(sport=5000, dport=33500) / Raw(bytes(i % 251 for i in range(size)))


def is_error(p):
    if IP in p and p[IP].dst == own4 and ICMP in p and p[ICMP].type in (3, 11):
        return True
    return IPv6 in p and p[IPv6].dst == own6 and any(k in p for k in (ICMPv6PacketTooBig, ICMPv6TimeExceeded, ICMPv6DestUnreach))


def ask(packet, wait=3.0):
    """Sends a packet and returns the ICMP error that comes, or None."""
    found = []
    sniffer = AsyncSniffer(iface=device, lfilter=lambda p: is_error(p) and (found.append(p) or True), count=1)
    sniffer.start()
    time.sleep(0.3)
    sendp(Ether(src=own_mac, dst=router) / packet, iface=device)
    deadline = time.time() + wait
    while not found and time.time() < deadline:
        time.sleep(0.02)
    if sniffer.running:
        sniffer.stop()
    return found[0] if found else None


def result(name, fault):
    print("RESULT", name, fault or "ok", flush=True)


def judge4(name, packet, kind, code, next_mtu=0, hops=0):
    p = ask(packet)
    if p is None:
        return result(name, "no answer")
    ip, icmp = p[IP], p[ICMP]
    raw = bytes(ip)[ip.ihl * 4:ip.len]
    sent = bytearray(bytes(packet))
    if hops:
        changed = IP(bytes(packet))
        changed.ttl -= hops
        del changed.chksum
        sent = bytes(changed)
    quote = raw[8:]
    faults = []
    for what, got, want in (("source", ip.src, source4), ("type", icmp.type, kind), ("code", icmp.code, code),
                            ("precedence", ip.tos >> 5, 6), ("length", ip.len, min(576, 28 + len(sent))),
                            ("quote", quote, bytes(sent[:548])), ("mtu", int.from_bytes(raw[6:8], "big"), next_mtu)):
        if got != want:
            faults.append(f"{what} is {got!r}, want {want!r}")
    del icmp.chksum
    if bytes(IP(bytes(ip)))[ip.ihl * 4:ip.ihl * 4 + 4] != raw[:4]:
        faults.append("checksum")
    result(name, "; ".join(faults))


def judge6(name, packet, layer, code, next_mtu=None, hops=0):
    p = ask(packet)
    if p is None:
        return result(name, "no answer")
    ip = p[IPv6]
    if layer not in p:
        return result(name, p.summary())
    sent = bytearray(bytes(packet))
    sent[7] -= hops
    raw = bytes(ip)[40:40 + ip.plen]
    faults = []
    for what, got, want in (("source", ip.src, source6), ("code", p[layer].code, code), ("length", 40 + ip.plen, min(1280, 48 + len(sent))),
                            ("quote", raw[8:], bytes(sent[:1232])), ("mtu", p[layer].mtu if next_mtu else None, next_mtu)):
        if got != want:
            faults.append(f"{what} is {got!r}, want {want!r}")
    result(name, "; ".join(faults))


def silent(name, packet):
    p = ask(packet, wait=1.0)
    result(name, p and "answered: " + p.summary())


judge4("ttl", four(ttl=1) / udp(20), 11, 0)
judge4("ttl-long", four(ttl=1) / udp(1200), 11, 0)
judge4("ttl-options", four(ttl=1, options=[IPOption_Router_Alert()]) / udp(20), 11, 0)
judge4("ttl-first-fragment", four(ttl=1, flags="MF") / udp(64), 11, 0)
judge4("discard", four(drop4) / udp(20), 3, 1)
judge4("too-big", four(flags="DF") / udp(mtu - 27), 3, 4, mtu, hops=1)
silent("about-error", four(ttl=1) / ICMP(type=3, code=1) / IPerror(src=way4, dst=own4) / udp(8))
silent("later-fragment", four(ttl=1, frag=8) / Raw(b"x" * 40))
judge6("hop-limit", six(hlim=1) / udp(20), ICMPv6TimeExceeded, 0)
judge6("hop-limit-long", six(hlim=1) / udp(1300), ICMPv6TimeExceeded, 0)
judge6("hop-limit-options", six(hlim=1) / IPv6ExtHdrDestOpt() / udp(20), ICMPv6TimeExceeded, 0)
judge6("discard6", six(drop6) / udp(20), ICMPv6DestUnreach, 6)
judge6("too-big6", six() / udp(mtu - 47), ICMPv6PacketTooBig, 0, mtu, hops=1)
silent("about-error6", six(hlim=1) / ICMPv6DestUnreach() / IPerror6(src=way6, dst=own6) / udp(8))
silent("later-fragment6", six(hlim=1) / IPv6ExtHdrFragment(offset=8, nh=17) / Raw(b"x" * 40))
