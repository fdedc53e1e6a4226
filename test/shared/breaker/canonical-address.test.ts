import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalAddress } from '../../../src/shared/breaker/canonical-address.js';
import { canonicalIpv6 } from '../../../src/shared/breaker/canonical-ipv6.js';

describe('canonicalAddress', () => {
  it.each([
    [
      'host:80',
      ['HOST:80', 'host:80', 'Host.:80', 'host:080', 'http://host', 'http://HOST./a?b#c'],
    ],
    ['host:443', ['https://host/', 'wss://host', 'https://user:secret@host:443/']],
    [
      'host:5000',
      ['dns:host:5000', 'dns:///HOST:5000', 'dns://8.8.8.8/host:5000', 'grpc://host:5000'],
    ],
    ['host', ['host', 'HOST', 'host.']],
    ['10.0.0.7:80', ['10.0.0.7:80', 'http://10.0.0.7', 'ipv4:10.0.0.7:80']],
    [
      '[::1]:80',
      [
        '[::1]:80',
        '[0:0:0:0:0:0:0:1]:80',
        '[0000:0000:0000:0000:0000:0000:0000:0001]:80',
        'http://[::1]/',
        'ipv6:[::1]:80',
        '[::0.0.0.1]:80',
      ],
    ],
    ['[::1]', ['::1', '[::1]', '0:0:0:0:0:0:0:1']],
    ['[2001:db8::1:0:0:1]:5000', ['[2001:DB8:0:0:1:0:0:1]:5000', '[2001:0db8::1:0:0:1]:5000']],
    ['[fe80::1%eth0]:80', ['[FE80::1%eth0]:80', '[fe80:0:0:0:0:0:0:1%eth0]:80']],
    ['my_service-2.internal:80', ['My_Service-2.Internal:80']],
    ['bücher.example:80', ['BÜCHER.example:80', 'http://bücher.example']],
    ['unix:/run/Peer.sock', ['unix:/run/Peer.sock']],
    ['unix:///run/Peer.sock', ['unix:///run/Peer.sock']],
    ['/run/Peer.sock', ['/run/Peer.sock']],
    ['unix-abstract:Peer', ['unix-abstract:Peer']],
    ['\\\\.\\pipe\\Peer', ['\\\\.\\pipe\\Peer']],
  ])('%s', (canonical, spellings) => {
    for (const spelling of spellings) expect(canonicalAddress(spelling), spelling).toBe(canonical);
    expect(canonicalAddress(canonical)).toBe(canonical);
  });

  it.each([
    ['', 'address must not be empty'],
    [':80', 'address must name a host'],
    ['.:80', 'address must name a host'],
    ['a..b:80', 'address must name a host'],
    ['-a:80', 'address must name a host'],
    ['host:', 'address must have a port from 1 to 65535'],
    ['host:0', 'address must have a port from 1 to 65535'],
    ['host:65536', 'address must have a port from 1 to 65535'],
    ['host:99999999999999999999', 'address must have a port from 1 to 65535'],
    ['host:8a', 'address must have a port from 1 to 65535'],
    ['host:-1', 'address must have a port from 1 to 65535'],
    ['host:80/path', 'address must have a port from 1 to 65535'],
    ['host/path', 'address must name a host'],
    ['user@host:80', 'address must name a host'],
    ['[::1:80', 'address must name a host, or an IPv6 address in brackets'],
    ['[::g]:80', 'address must name a host, or an IPv6 address in brackets'],
    ['[1:2:3:4:5:6:7]:80', 'address must name a host, or an IPv6 address in brackets'],
    ['[1:2:3:4:5:6:7:8:9]:80', 'address must name a host, or an IPv6 address in brackets'],
    ['[::1]80', 'address must name a host, or an IPv6 address in brackets'],
    ['1::2::3', 'address must name a host, or an IPv6 address in brackets'],
    ['redis://host', 'address must name a port, which redis has no default of'],
    ['http://', 'address must name a host'],
    ['ho st:80', 'address must be without white space'],
    ['host:80\n', 'address must be without white space'],
    [`${'a'.repeat(1024)}:80`, 'address must have at most 1024 characters'],
  ])('refuses %j', (address, message) => {
    expect(() => canonicalAddress(address)).toThrow(RangeError);
    expect(() => canonicalAddress(address)).toThrow(message);
  });

  it.each([undefined, null, 5, {}, ['host:80']])('refuses %j for its type', (address) => {
    expect(() => canonicalAddress(address as never, 'peer')).toThrow(TypeError);
    expect(() => canonicalAddress(address as never, 'peer')).toThrow(/^peer must be a string, got/);
  });

  it('of a canonical address is itself, whatever text it is made from', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain(), fc.webUrl(), fc.ipV6()), (text) => {
        let canonical: string;
        try {
          canonical = canonicalAddress(text);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        expect(canonicalAddress(canonical)).toBe(canonical);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('canonicalIpv6', () => {
  it('writes an address as URLs do', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((n) => n.toString(16).padStart(4, '0')).join(':');
        const canonical = canonicalIpv6(text.toUpperCase());
        expect(`[${canonical}]`).toBe(new URL(`http://[${text}]`).hostname);
        expect(canonicalIpv6(canonical ?? '')).toBe(canonical);
      }),
    );
  });

  it('reads what fast-check takes for one', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        expect(`[${canonicalIpv6(text)}]`).toBe(new URL(`http://[${text}]`).hostname);
      }),
    );
  });
});
