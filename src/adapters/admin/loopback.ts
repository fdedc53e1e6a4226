import { BlockList, isIP } from 'node:net';

const HOST_HEADER = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/i;

/** 127.0.0.0/8 and ::1, also as an IPv4 address inside IPv6. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a `Host` header names this machine in a way that no name server has a say in. */
export function isLoopbackHost(header: string | undefined): boolean {
  const [, bracketed, plain] = HOST_HEADER.exec(header ?? '') ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 && isLoopbackAddress(bracketed);
  if (plain === undefined) return false;
  return plain.toLowerCase() === 'localhost' || (isIP(plain) === 4 && isLoopbackAddress(plain));
}
