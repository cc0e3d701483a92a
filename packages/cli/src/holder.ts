import { idPrefixes } from '@skerry/contract/prefixes'
import { usage } from './failure.ts'

/** The options that named a holder before it was an argument. They also tell a token `a@b` from a member. */
export interface HolderFlags {
  user?: string
  token?: string
}

export type Holder = { user: string } | { token: string }

/**
 * Returns the member or service token that an argument names: a member by e-mail address or id, a token by name or id.
 *
 * @returns undefined if the command line names neither
 */
export function holderNamed(argument: string | undefined, { user, token }: HolderFlags): Holder | undefined {
  const given = [argument, user, token].filter((one) => one !== undefined)
  if (given.length > 1) throw usage('you named more than one member or token', 'name one')
  if (user !== undefined) return { user }
  if (token !== undefined) return { token }
  if (argument === undefined) return undefined
  return argument.includes('@') || argument.startsWith(idPrefixes.user) ? { user: argument } : { token: argument }
}

export function holderOf(argument: string | undefined, flags: HolderFlags): Holder {
  const holder = holderNamed(argument, flags)
  if (holder) return holder
  throw usage('the member or token is missing', 'give the e-mail address of a member, or the name of a token')
}
