import type { Check, Written } from './written.ts'

type Row = Written['route'][number] | NonNullable<Written['forward']>['host'][number]

/** The signature sets these headers itself. */
const ofSignature = new Set(['authorization', 'date', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'])

/** Finds a setting that contradicts `sigv4` of a route or host. */
export const signingProblem: Check = ({ route, forward }) => {
  const hosts = forward?.host ?? []
  const rows: [string, Row][] = [
    ...route.map((one, at): [string, Row] => [`route[${at}]`, one]),
    ...hosts.map((one, at): [string, Row] => [`forward.host[${at}]`, one]),
  ]
  for (const [place, row] of rows) {
    const found = problemOf(row)
    if (found) return [`${place}.${found[0]}`, found[1]]
  }
  // A connection is read before it is known which rule of its host decides, so these settings must be the same in all
  // of them.
  const at = hosts.findIndex((one) => !isSame(one, hosts.find(({ match }) => isHost(match, one.match))!))
  return (
    at !== -1 && [
      `forward.host[${at}]`,
      'must have the same sigv4, allow_http and ports as the earlier block of this host',
    ]
  )
}

function problemOf(row: Row): false | [key: string, problem: string] {
  if (row.sigv4 === null) return false
  const { accessKey, secretKey, sessionToken } = row.sigv4
  const names = [accessKey, secretKey, ...(sessionToken === null ? [] : [sessionToken])]
  if (new Set(names).size < names.length) return ['sigv4', 'names the same secret twice']
  const handedOut = (row.allow ?? []).findIndex((name) => names.includes(name))
  if (handedOut !== -1)
    return [
      `allow[${handedOut}]`,
      'is used by sigv4 to sign requests, so it cannot also be sent in them: remove it from allow',
    ]
  const header = 'headers' in row ? Object.keys(row.headers).find((name) => ofSignature.has(name)) : undefined
  return header !== undefined && [`headers.${header}`, 'is set by sigv4 itself: remove it']
}

const isHost = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
type Host = NonNullable<Written['forward']>['host'][number]
const isSame = (one: Host, other: Host) =>
  one.allowHttp === other.allowHttp &&
  JSON.stringify(one.ports) === JSON.stringify(other.ports) &&
  one.sigv4?.accessKey === other.sigv4?.accessKey &&
  one.sigv4?.secretKey === other.sigv4?.secretKey &&
  one.sigv4?.sessionToken === other.sigv4?.sessionToken
