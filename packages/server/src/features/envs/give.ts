import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { OfEnvironment } from '../../model/environments/table.ts'
import type { Holder } from '../../model/grants/table.ts'
import { type Giving, giveFirstGrants, type Key } from '../../model/grants/write.ts'

type FirstKey = Omit<Key, 'environmentId'>

/** Gives the key of a new environment, in one statement. Refuses if someone has lost access since they were checked. */
export async function giveFirstKeys(giving: Giving, env: OfEnvironment, keys: readonly FirstKey[]): Promise<void> {
  const given = new Set((await giveFirstGrants(giving, env, keys)).map(nameOf))
  const left = keys.find((key) => !given.has(nameOf(key)))
  if (left) throw fail('conflict', `${left.principalId} has just lost access`)
}

const nameOf = ({ principalType, principalId }: Holder) => `${principalType} ${principalId}`

/** The grant to the caller who makes an environment. */
export const grantToCreator = ({ type, id }: Principal, wrappedDek: string): FirstKey => ({
  principalType: type,
  principalId: id,
  wrappedDek,
})
