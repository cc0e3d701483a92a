import { boundPlace, boundWords, findPlace, namedPlace, type Place, type PlaceName, placeNamed } from './places.ts'
import { refusal } from './run/refusal.ts'
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
export async function findUnlessBound(session: Session, flags: Flags, name: PlaceName): Promise<Place> {
  if (session.settings.scopeIsExplicit || flags.group !== undefined) return findPlace(session, name)
  try {
    return (await boundPlace(session, name.branch)) ?? (await findPlace(session, name))
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'forbidden') throw error
    // A token that lacks the key of one group may still write to the environment itself.
    if (name.env !== undefined) return findPlace(session, name)
    throw await refusal(error as Error, session, boundWords, undefined)
  }
}
