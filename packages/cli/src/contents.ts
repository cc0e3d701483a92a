import type { Session } from './session.ts'

/** The fields of an environment that these texts need. */
interface Listed {
  id: string
  slug: string
  canDecrypt?: boolean
}

/**
 * Says what is deleted with environments: `12 secrets in development and production`. Secrets are counted as far as
 * this credential may list them.
 */
export async function contentsOf(session: Session, environments: readonly Listed[]): Promise<string> {
  if (environments.length === 0) return 'no environments'
  const names = new Intl.ListFormat('en').format(environments.map(({ slug }) => slug))
  return `${await secretsIn(session, environments)} in ${names}`
}

/** `12 secrets`, or `all secrets` if they cannot be counted. */
export async function secretsIn(session: Session, environments: readonly Listed[]): Promise<string> {
  const counts = await Promise.all(environments.map((one) => countSecrets(session, one)))
  if (counts.includes(undefined)) return 'all secrets'
  const total = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  return `${total} ${total === 1 ? 'secret' : 'secrets'}`
}

/** Undefined if this credential has no key, because it may then not list the names either. */
async function countSecrets(session: Session, { id: envId, canDecrypt }: Listed): Promise<number | undefined> {
  if (canDecrypt === false) return undefined
  const { id: orgId } = await session.org()
  const listed = await session.client.secrets.list({ params: { orgId, envId } }).catch(() => undefined)
  return listed?.secrets.length
}
