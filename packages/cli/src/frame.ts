import type { Command } from 'commander'
import { findCurrent, findNamed } from './current-place.ts'
import { Failure, isBoundElsewhere, lacksKey, toFailure } from './failure.ts'
import { idKeyOf, recall } from './id-cache.ts'
import { type Output, writeOutput } from './output.ts'
import { checkNamed, type Place } from './places.ts'
import { refusalAt } from './run/refusal.ts'
import { type Org, openSession, type Session } from './session.ts'
import type { Flags } from './settings.ts'

// A frame runs the steps around the action of a command. Each `register` function chooses a frame:
//
//   leaf(command, 'ls', 'List applications').action(inOrg(list))
//   addressed(leaf(command, 'generate <NAMES...>', '...')).action(atPlace(generate, parseGenerate))
//
// An action gets the arguments of the command line and, as the last argument, the objects that the frame has opened. It
// returns an `Output`, which the frame writes as JSON or as text, so an action ignores --json. The frame's steps:
//
// 1. It calls the second function, the preparation, so that a mistake on the command line costs no request. The action
//    gets the result as `input`.
// 2. It opens the session.
// 3. It looks up the organization or the environment.
// 4. It runs the action and writes the output.
//
// An action that returns no output writes by itself: `audit` line by line, `ssh` and `provisioner` while they run.
// These commands have no frame: `run`, `shell` and `proxy run`, which start a program; `mcp` and `completion`, which
// speak a protocol; `doctor`, which writes each check as it ends; `login` and `signup`, which create the credential;
// and `dashboard`, which needs no session to start.

/** The last argument of an action of a signed-in command. `P` is the type of the function that prepares the `input`. */
export interface SignedIn<F extends Flags = Flags, P extends Prepare = () => undefined> {
  session: Session
  flags: F
  input: Awaited<ReturnType<P>>
}

/** The last argument of an action in an organization. */
export interface InOrg<F extends Flags = Flags, P extends Prepare = () => undefined> extends SignedIn<F, P> {
  org: Org
  orgId: string
}

/** The last argument of an action on an environment. */
export interface AtPlace<F extends Flags = Flags, P extends Prepare = () => undefined> extends SignedIn<F, P> {
  place: Place
}

/**
 * A preparation checks the command line before the session is opened, and reads files or standard input for the action.
 */
export type Prepare = (...given: never[]) => unknown

/** The function that commander calls with the arguments, the options and the command. */
type Run = (...given: unknown[]) => Promise<void>

/** An action or a preparation. The overloads of `Frame` have checked its types. */
type Loose = (...given: unknown[]) => unknown

interface Frame<Base extends Flags, More> {
  <A extends unknown[], F extends Base>(
    action: (
      ...given: [...A, { session: Session; flags: F; input: undefined } & More]
    ) => Promise<Output | undefined> | Promise<void>,
    check?: (flags: F, ...args: A) => void,
  ): Run
  <A extends unknown[], F extends Base, I>(
    action: (
      ...given: [...A, { session: Session; flags: F; input: I } & More]
    ) => Promise<Output | undefined> | Promise<void>,
    prepare: (flags: F, ...args: A) => I | Promise<I>,
  ): Run
}

/**
 * Makes a frame for commands that all look up the same thing first. `named` is the first argument of the command line.
 * `check` refuses names that contradict each other, before the preparation.
 */
export function lookingUp<Base extends Flags, More>(
  lookUp: (session: Session, flags: Base, named: string | undefined) => Promise<More>,
  check?: (flags: Base, named: string | undefined) => void,
): Frame<Base, More> {
  const frame =
    (action: Loose, prepare?: Loose): Run =>
    async (...given) => {
      const args = given.slice(0, -2)
      const flags = given.at(-2) as Base
      check?.(flags, args[0] as string | undefined)
      const input = await prepare?.(flags, ...args)
      const session = await openSession(flags)
      const more = await lookUp(session, flags, args[0] as string | undefined).catch((error) => {
        throw withKeptCopy(error, session)
      })
      const output = await naming(session, more, () => action(...args, { session, flags, input, ...more }))
      await writeOutput(output as Output | undefined, flags)
    }
  return frame as Frame<Base, More>
}

/**
 * Adds to the error about an unreachable server that `skerry run` has been here before, so that its copy of the
 * environment may still start programs.
 */
function withKeptCopy(error: unknown, { settings }: Session): unknown {
  const { url, org, app, env } = settings
  if ((error as { code?: unknown }).code !== 'unavailable' || org === undefined) return error
  const label = `${app}/${env}`
  if (recall(idKeyOf(url, org, label)) === undefined) return error
  const { kind, message, next } = toFailure(error)
  const offline = `\`skerry run --offline -- <program>\` uses the copy that the last run kept of ${label}`
  return new Failure(kind, message, `${next}; ${offline}`)
}

/** Names the environment and the person in a refusal of the server that the action did not explain. */
async function naming(session: Session, found: unknown, act: () => unknown): Promise<unknown> {
  try {
    return await act()
  } catch (error) {
    const { place } = found as { place?: Place }
    if (place === undefined || !(error instanceof Error) || error instanceof Failure) throw error
    if (!lacksKey(error) && !isBoundElsewhere(error)) throw error
    throw await refusalAt(error, session, place)
  }
}

export const signedIn = lookingUp(async () => ({}))

export const inOrg = lookingUp(async (session) => {
  const org = await session.org()
  return { org, orgId: org.id }
})

/** The environment that options and settings name. */
export const atPlace = lookingUp(async (session, flags) => ({
  place: await findCurrent(session, flags),
}))

/** The environment that the first argument names; without one, the environment that options and settings name. */
export const atNamed = lookingUp(
  async (session, flags, named) => ({ place: await findNamed(session, named, flags) }),
  checkNamed,
)

/** The frame of a command that opens no session, or opens it by itself. Its action gets the options last. */
export const withoutSession =
  <A extends unknown[]>(action: (...given: A) => Promise<Output>): Run =>
  async (...given) =>
    writeOutput(await action(...(given.slice(0, -1) as A)), given.at(-2) as Flags)

/**
 * Passes options before a subcommand's name to the subcommand too, except `--yes`, which confirms the command above.
 */
export const withOptionsAbove =
  (run: Run): Run =>
  (...given) => {
    const command = given.at(-1) as Command
    const { yes: _, ...above } = command.parent?.opts() ?? {}
    return run(...given.slice(0, -2), { ...above, ...(given.at(-2) as Flags) }, command)
  }
