import { Failure } from '../failure.ts'
import type { Session } from '../session.ts'
import type { Owner } from './unlock.ts'

/** Refuses a service token, because its key is derived from the token itself. Only people have keyrings. */
export function ownerOf({ client, settings, principal }: Session): Owner {
  if (principal.type === 'user') return { client, url: settings.url, userId: principal.id }
  throw new Failure(
    'usage',
    `${principal.name} is a service token, which contains its own key; only people have a keyring`,
    'sign in as a person with `skerry login`, or choose a person’s credential with --profile',
  )
}
