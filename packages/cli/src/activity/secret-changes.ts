import type { ChangeRequest } from '@skerry/sdk/secrets'
import { NoKeyFailure } from '../failure.ts'
import { eachAtOnce } from '../parallel.ts'
import { listSecrets } from '../secrets/values.ts'
import type { Session } from '../session.ts'
import { type Happening, newest, type Wanted } from './happening.ts'
import type { Scope } from './scope.ts'

// A reader who may not read the audit log sees what the secrets themselves tell: who wrote which version and when. The
// history of a deleted secret is deleted with it.

/** How many secrets are asked for their versions: the ones that changed last. */
const secretsMax = 50
const versionsMax = 50

export async function readSecretChanges(session: Session, scope: Scope, wanted: Wanted): Promise<Happening[]> {
  const readable = scope.environments.filter(({ canDecrypt }) => canDecrypt)
  const [secrets, proposals] = await Promise.all([
    Promise.all(readable.map((place) => secretsOf(session, scope, place))),
    Promise.all(readable.map(({ envId }) => proposalsOf(session, scope, envId, wanted))),
  ])
  const changed = secrets
    .flat()
    .sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))
    .slice(0, Math.min(wanted.limit, secretsMax))
  const versions = await eachAtOnce(changed, (one) => versionsOf(session, scope, one, wanted))
  return newest([...versions.flat(), ...proposals.flat()], wanted)
}

interface Changed {
  id: string
  environmentId: string
  name: string
  updatedAt: string
}

/** In an application, environments without a key are left out. For one environment, the refusal is the answer. */
async function secretsOf(session: Session, { orgId, appId }: Scope, place: Scope['environments'][number]) {
  try {
    return await listSecrets(session, { orgId, ...place })
  } catch (error) {
    if (appId === undefined || !(error instanceof NoKeyFailure)) throw error
    return []
  }
}

async function versionsOf(session: Session, { orgId }: Scope, secret: Changed, { limit }: Wanted) {
  const { id: resourceId, environmentId, name } = secret
  const query = { limit: Math.min(limit, versionsMax) }
  const params = { orgId, envId: environmentId, name }
  const { versions } = await session.client.secrets.versions({ params, query })
  return versions.map(
    ({ version, restoredFromVersion: restoredFrom, createdByType: actorType, createdById: actorId, createdAt }) => ({
      action: restoredFrom === null ? 'secret.written' : 'secret.restored',
      ...{ actorType, actorId, resourceType: 'secret', resourceId, createdAt },
      metadata: { environmentId, name, version, ...(restoredFrom === null ? {} : { restoredFrom }) },
    }),
  )
}

const proposalsMax = 200

async function proposalsOf(session: Session, { orgId }: Scope, envId: string, { limit }: Wanted) {
  const query = { envId, limit: Math.min(limit, proposalsMax) }
  const { changeRequests } = await session.client.changes.list({ params: { orgId }, query })
  return changeRequests.flatMap(proposalHappenings)
}

/** An applied change is told by the version that it made. The list does not say who decided on the others. */
function proposalHappenings(change: ChangeRequest): Happening[] {
  const { id, environmentId, secretName: name, status, proposedByType, proposedById, createdAt, closedAt } = change
  const metadata = { environmentId, ...(name === null ? { action: change.action } : { name }) }
  const about = { resourceType: 'change_request', resourceId: id, metadata }
  const by = { actorType: proposedByType, actorId: proposedById }
  const opened = { action: 'change_request.opened', ...by, ...about, createdAt }
  if (closedAt === null || status === 'applied') return [opened]
  const nobody = { actorType: 'unknown', actorId: null }
  return [opened, { action: `change_request.${status}`, ...nobody, ...about, createdAt: closedAt }]
}
