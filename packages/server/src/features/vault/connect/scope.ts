import type { vaultSessionPurposes } from '@skerry/contract/vault/facts'
import type { Sql, Tx } from '../../../db/database.ts'
import { accessOf, type Checked } from '../../../http/access.ts'
import { fail } from '../../../kernel/errors.ts'
import type { EndUserPrincipal } from '../../../kernel/principal.ts'
import type { Provider } from '../executor/catalog.ts'
import type { SessionStatus } from '../lifecycles.ts'

export type Purpose = (typeof vaultSessionPurposes)[number]

interface SessionRow {
  orgId: string
  id: string
  projectId: string
  userRef: string
  returnUrl: string | null
  allowAccountChange: boolean
  /** The status at the time of the query: `expired` once `expiresAt` has passed, although the row stays `pending`. */
  status: SessionStatus
  claimedAt: string | null
  consentedAt: string | null
  consentVersion: number | null
  completedAt: string | null
  createdAt: string
  expiresAt: string
}

/** A session in which a person connects something. */
export type CaptureSession = Checked<
  SessionRow & { purpose: 'connect' | 'reconnect'; provider: Provider; connectionId: string }
>
/** A session in which a person lists and revokes their connections. */
export type ManageSession = Checked<SessionRow & { purpose: 'manage'; provider: null; connectionId: null }>
export type Session = CaptureSession | ManageSession

export interface Claimed<S extends Session> {
  principal: EndUserPrincipal
  session: S
}

/** Columns of `vault_sessions s`, with the status at the instant in the parameter `now`. They include no hash. */
export const sessionColumns = (now: `$${number}`) => `s.org_id, s.id, s.project_id, s.purpose, s.user_ref, s.provider,
  s.connection_id, s.return_url, s.allow_account_change,
  case when s.status = 'pending' and s.expires_at <= ${now} then 'expired' else s.status end as status,
  s.claimed_at, s.consented_at, s.consent_version, s.completed_at, s.created_at, s.expires_at`

export const findSession = (db: Sql, { orgId, id }: { orgId: string; id: string }, sessionId: string, now: string) =>
  db.row<Session>(
    `select ${sessionColumns('$4')} from vault_sessions s where s.org_id = $1 and s.project_id = $2 and s.id = $3`,
    [orgId, id, sessionId, now],
  )

/** Reads the current row and locks it until commit. Throws `not_found` if an erasure deleted the row meanwhile. */
export async function lockSession(db: Tx, { orgId, id }: Pick<Session, 'orgId' | 'id'>, now: string): Promise<Session> {
  const found = await db.row<Session>(
    `select ${sessionColumns('$3')} from vault_sessions s where s.org_id = $1 and s.id = $2 for no key update`,
    [orgId, id, now],
  )
  if (!found) throw fail('not_found', 'no such session')
  return found
}

const claimed = <S extends Session>(word: string, means: string, isOf: (session: Session) => session is S) =>
  accessOf<Claimed<S>>(word, means, async ({ principal, db, context }) => {
    if (principal?.type !== 'vault_end_user') throw fail('unauthorized', 'open the link first')
    const { orgId, projectId, sessionId } = principal
    const session = await findSession(db, { orgId, id: projectId }, sessionId, context.now().toISOString())
    if (!session) throw fail('unauthorized', 'open the link first')
    if (!isOf(session)) throw fail('forbidden', 'this link is for something else')
    return { principal, session }
  })

export const connectClaim = claimed<CaptureSession>(
  'connectClaim',
  'A person in a browser, with a claim token from `vaultConnect.claim` that is at most 30 minutes old. The token must come from a link for connecting an account or repairing a connection',
  (session) => session.purpose !== 'manage',
)

export const manageClaim = claimed<ManageSession>(
  'manageClaim',
  'A person in a browser, with a claim token from `vaultConnect.claim` that is at most 30 minutes old. The token must come from a link for managing connections',
  (session) => session.purpose === 'manage',
)
