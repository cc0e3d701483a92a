import type { composition } from '@skerry/contract/groups/endpoints'
import { limits } from '@skerry/contract/limits'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InEnv } from '../envs/scope.ts'
import { deleteComposition, listCompositions, lockCompositions, upsertComposition } from './composition-store.ts'
import { findGroup, type Group } from './scope.ts'

export async function list({ db, env }: In<typeof composition.list, InEnv>): Out<typeof composition.list> {
  return { groups: await listCompositions(db, env) }
}

/** Idempotent for an environment and a group. Without a position, a new group goes on top and an existing one stays. */
export async function set(input: In<typeof composition.set, InEnv>): Out<typeof composition.set> {
  const { db, org, env, body, audit } = input
  if (env.applicationId === null || env.parentEnvironmentId !== null)
    throw fail('invalid_request', 'a branch uses the groups of its parent: compose the group into the parent')
  const group = await findGroup(db, org, body.groupId)
  if (!group) throw fail('not_found', 'body.groupId: no such group')
  // Two additions at once must not get the same position.
  const before = await lockCompositions(db, env)
  const own = before.find((entry) => entry.groupId === group.id)
  const top = Math.max(-1, ...before.map((entry) => entry.position))
  const position = body.position ?? own?.position ?? top + 1
  if (position > limits.compositionPositionMax)
    throw fail('conflict', 'there is no position left above the other groups')
  await upsertComposition(db, env, group, position)
  audit('composition.set', env.id, { groupId: group.id, position })
  const shown = { groupId: group.id, slug: group.slug, name: group.name, position }
  return new Reply(own ? 200 : 201, { group: shown })
}

export async function remove(
  input: In<typeof composition.delete, InEnv & { group: Group }>,
): Out<typeof composition.delete> {
  const { db, env, group, audit } = input
  const removed = await deleteComposition(db, env, group)
  if (!removed) throw fail('not_found', 'this group is not composed into the environment')
  audit('composition.removed', env.id, { groupId: group.id })
  return { ok: true }
}
