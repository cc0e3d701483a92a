import { boundPlace, findPlace, namedPlace, type Place, type PlaceName, placeNamed } from './places.ts'
import type { Session } from './session.ts'
import type { Flags } from './settings.ts'

export const findNamed = (session: Session, named: string | undefined, flags: Flags): Promise<Place> =>
  named === undefined ? findCurrent(session, flags) : findPlace(session, placeNamed(session, named, flags))

/**
 * Finds the environment that a command works on, as `skerry run` does. Options and variables come first, then the
 * environment that a token is bound to, then the project's file.
 */
export const findCurrent = (session: Session, flags: Flags): Promise<Place> =>
  findUnlessBound(session, flags, namedPlace(session, flags))

/** Finds the same environment without its branch. */
export const findCurrentParent = (session: Session, flags: Flags): Promise<Place> =>
  findUnlessBound(session, flags, { ...namedPlace(session, flags), branch: undefined })

/** Finds the environment of a bound token, unless an option or a variable names another. */
export const findUnlessBound = async (session: Session, flags: Flags, name: PlaceName): Promise<Place> =>
  (await boundHere(session, flags, name.branch)) ?? findPlace(session, name)

/**
 * The environment that a bound token works on, or a branch of it. Undefined if an option or a variable names an
 * environment, and for a credential that is bound to none.
 */
export const boundHere = async (session: Session, flags: Flags, branch?: string): Promise<Place | undefined> =>
  session.settings.scopeIsExplicit || flags.group !== undefined ? undefined : boundPlace(session, branch)
