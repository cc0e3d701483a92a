import type { signup } from '@skerry/contract/signup/endpoints'
import type { Tx } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { createClient } from '../machine-clients/create.ts'
import { createOrg } from '../orgs/create.ts'

const slugAttempts = 20
const slugMax = 63

/** Makes an organization without members and the machine client that bootstraps it. A human joins by invitation. */
export async function create(input: In<typeof signup.create>): Out<typeof signup.create> {
  const { context, db, body, now, newId, audit } = input
  if (context.config.signup === 'closed')
    throw fail('forbidden', 'signing up is closed on this server: its operator opens it with SKERRY_SIGNUP=open')
  const org = await createUnderFreeSlug(input, { id: newId('organization'), name: body.orgName }, body.orgSlug)
  const name = body.clientName ?? 'bootstrap'
  const { id: clientId, clientSecret } = await createClient(db, { orgId: org.id, name, createdBy: null, now })
  const more = { orgId: org.id, actor: { type: 'm2m', id: clientId } }
  audit('org.created', org.id, { slug: org.slug }, more)
  audit('machine_client.created', clientId, { name }, more)
  return { org: { ...org, role: 'admin' }, m2m: { clientId, clientSecret } }
}

/** Tries `acme`, then `acme-2`, `acme-3`, ..., because a stranger cannot be asked to guess a free slug. */
async function createUnderFreeSlug(input: { db: Tx; now: string }, org: { id: string; name: string }, wanted: string) {
  for (let attempt = 1; attempt <= slugAttempts; attempt++) {
    // From the sixth try on, the suffix comes from the id, which is random.
    const suffix = attempt === 1 ? '' : attempt < 6 ? `-${attempt}` : `-${org.id.slice(-6 - attempt).toLowerCase()}`
    const slug = wanted.slice(0, slugMax - suffix.length).replace(/-+$/, '') + suffix
    const inserted = await createOrg(input, { ...org, slug })
    if (inserted) return inserted
  }
  throw fail('conflict', 'body.orgSlug: is already in use, as is every variant that was tried')
}
