import { Failure } from '../failure.ts'
import type { Session } from '../session.ts'
import type { Owner } from './unlock.ts'

/** A service token derives its key from itself: keyrings are for people. */
export function ownerOf({ client, settings, principal }: Session): Owner {
  if (principal.type === 'user') return { client, url: settings.url, userId: principal.id }
  throw new Failure(
    'usage',
    `${principal.name} is a service token, which carries its key; a keyring is a person’s`,
    'sign in with `skerry login`, or choose a person’s credential with --profile',
  )
}
