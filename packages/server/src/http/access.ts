import { limits } from '@skerry/contract/limits'
import { fail } from '../kernel/errors.ts'
import { isVaultPrincipal, type Principal, type UserPrincipal } from '../kernel/principal.ts'
import type { RateName } from '../kernel/rate-limits.ts'
import type { Context } from './context.ts'
import type { Access, Call } from './route.ts'

// Parsers for the caller, and ways to combine them. Each feature parses in its `scope.ts` what the caller may use. A
// parser returns what the handler may use, or refuses. To a caller, objects of other organizations do not exist.

declare const checked: unique symbol
/**
 * A row that an access check has found. Only such a check can create one, so a store that takes an Env never gets an
 * unchecked id.
 */
export type Checked<T> = T & { readonly [checked]: true }

export interface Caller {
  principal: Principal
}

/**
 * Makes an access that narrows no other one.
 *
 * @param word its name in the access matrix
 * @param means what it requires of a caller, for the reference
 */
export const accessOf = <S extends object, N extends string = never>(
  word: string,
  means: string,
  resolve: Access<S, N>['resolve'],
): Access<S, N> => ({ name: word, words: { [word]: means }, resolve })

export type Words = Access<object>['words']

/**
 * A parser that requires more than its base, and may return more.
 *
 * @param means what it requires in addition, or a function that makes all words from those of the base
 */
export const narrowed = <S extends object, N extends string, Narrowed extends object, More extends string = never>(
  word: string,
  means: string | ((words: Words) => Words),
  base: Access<S, N>,
  narrow: (scope: S, call: Call, params: Record<N | More, string>) => Promise<Narrowed>,
): Access<Narrowed, N | More> => ({
  name: `${word}(${base.name})`,
  words: typeof means === 'string' ? { ...base.words, [word]: means } : means(base.words),
  resolve: async (call, params) => narrow(await base.resolve(call, params), call, params),
})

/** No credential needed. The reason is written at the route. */
export const open = (reason: string): Access<object> => ({
  name: `open: ${reason}`,
  words: { open: `No \`Authorization\` header is needed: ${reason}` },
  resolve: async () => ({}),
})

/** Counts the request against the rate limit of the caller's address. */
export const limited = <S extends object>(rate: RateName, base: Access<S>): Access<S> => ({
  name: `limited(${rate}, ${base.name})`,
  words: { ...base.words, limited: 'The server limits how often one IP address may call this operation' },
  resolve: async (call, params) => {
    call.context.limiter.take(rate, call.ipAddress, call.counted)
    return base.resolve(call, params)
  },
})

/** Any valid credential, even of a person who has not yet entered the second factor. */
export const authenticated = accessOf<Caller>(
  'authenticated',
  'A person, a service token or a machine client. A person can call this operation even before they have entered their second factor',
  async ({ principal }) => {
    if (!principal || isVaultPrincipal(principal)) throw fail('unauthorized', 'send an Authorization header')
    return { principal }
  },
)

/**
 * Any valid credential. A person with a second factor on this server is not signed in by a mailed link alone: until
 * they have entered the factor once, the session can only be used to enter it. An external identity provider checks its
 * own second factor at each sign-in.
 */
export const signedIn = accessOf<Caller>(
  'signedIn',
  'A person, a service token or a machine client. A person with a second factor must have entered it in this session',
  async (call, params) => {
    const scope = await authenticated.resolve(call, params)
    if (isHalfSignedIn(call.context, scope.principal)) throw fail('mfa_required', 'enter your second factor first')
    return scope
  },
)

/** True for a person in a browser who has a second factor here and has not yet entered it in this session. */
export function isHalfSignedIn({ oidc }: Context, principal: Principal): boolean {
  if (principal.type !== 'user' || oidc) return false
  const { kind, secondFactor, mfaAt } = principal.session
  return kind === 'browser' && secondFactor && mfaAt === null
}

/** A signed-in person: no machine client, no service token. */
export const person = accessOf<{ principal: UserPrincipal }>(
  'person',
  'A signed-in person. The server refuses service tokens and machine clients',
  async (call, params) => {
    const { principal } = await signedIn.resolve(call, params)
    if (principal.type !== 'user') throw fail('forbidden', 'only a signed-in person may do this')
    return { principal }
  },
)

/** A person in a browser. A CLI session acts for that person too, but cannot approve other CLI sessions. */
export const browser = accessOf<{ principal: UserPrincipal }>(
  'browser',
  'A person in a browser. The server refuses CLI sessions, service tokens and machine clients',
  async (call, params) => {
    const scope = await person.resolve(call, params)
    if (scope.principal.session.kind !== 'browser') throw fail('forbidden', 'this needs a browser session')
    return scope
  },
)

/** A person in a browser who may still have to enter the second factor. */
export const awaitingSecondFactor = accessOf<{ principal: UserPrincipal }>(
  'awaitingSecondFactor',
  'A person in a browser, even before they have entered their second factor',
  async (call, params) => {
    const { principal } = await authenticated.resolve(call, params)
    if (principal.type !== 'user' || principal.session.kind !== 'browser')
      throw fail('forbidden', 'this needs a browser session')
    return { principal }
  },
)

/** A person with a second factor must have entered it within the last ten minutes. */
export const fresh = <S extends Caller, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed(
    'fresh',
    'A person with a second factor must have entered it within the last ten minutes',
    base,
    async (scope, { context }) => {
      if (scope.principal.type === 'user' && !isFresh(scope.principal.session, context.now()))
        throw fail('mfa_required', 'enter your second factor again, then repeat this')
      return scope
    },
  )

const isFresh = ({ secondFactor, mfaAt }: UserPrincipal['session'], now: Date): boolean =>
  !secondFactor || (mfaAt !== null && now.getTime() - Date.parse(mfaAt) <= limits.mfaFreshSeconds * 1000)

/** The message for a person without a second factor in an organization that requires one. */
export const secondFactorNeeded =
  'this organization asks for a second factor: enroll one, or sign in with the one that you have, then repeat this'

/** Leaves machine clients out of the words of an access that allows them. */
export const withoutClients = (words: Words): Words =>
  Object.fromEntries(
    Object.entries(words).map(([name, text]) => [
      name,
      text.replace(/, (a|an admin) service token,? or a machine client/, ' or $1 service token'),
    ]),
  )

/** A caller who can have a key. A machine client cannot. */
export const keyed = <S extends Caller, N extends string>(base: Access<S, N>): Access<S, N> =>
  narrowed('keyed', keyedWords, base, async (scope) => {
    checkKeyed(scope)
    return scope
  })

const keyedWords = (words: Words): Words => ({
  ...withoutClients(words),
  keyed: 'The server refuses a machine client, because a machine client has no key pair',
})

export function checkKeyed({ principal }: Caller): void {
  if (principal.type === 'm2m') throw fail('forbidden', 'a machine client has no keys; use a service token instead')
}
