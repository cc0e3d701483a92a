const loopbackAddress = /^(?:127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|::1|\[::1\])$/

/**
 * Whether a host is an IP address of this machine, as the URL parser writes it: 127.0.0.0/8 or ::1, with or without
 * brackets. A name such as `127.db.example.com` is not: the owner of the domain decides which address it has.
 *
 * @example isLoopbackAddress(new URL('http://[0::1]:4700').hostname) // true
 */
export const isLoopbackAddress = (host: string): boolean => loopbackAddress.test(host)

/**
 * Whether a host is this machine: `localhost`, or one of its addresses. Names below `localhost` are not, because some
 * systems ask a name server about them.
 *
 * @example isLoopback('127.db.example.com') // false
 */
export const isLoopback = (host: string): boolean => host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
