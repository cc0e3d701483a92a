import { registerRestored, registrationOf, type TokenRegistration } from '@skerry/sdk/tokens'
import { Failure, usage } from '../failure.ts'
import { readCredential, readTextFile } from '../input.ts'
import { findPin } from '../known-keys.ts'
import { note, type Output, writeJson } from '../output.ts'
import { pin } from '../pins.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  request?: boolean
  from?: string
}

/**
 * Registers a token again. A holder who keeps the token secret runs it with `--request`, and an admin runs it with the
 * printed request.
 */
export async function registerAgain({ request, from, ...flags }: Options): Promise<Output> {
  if (request && from !== undefined) throw usage('--request and --from cannot be used together')
  const registration =
    from === undefined ? await registrationOf(withoutPin(await readCredential('Service token'))) : readRequest(from)
  if (request) return { json: registration, text: () => writeJson(registration) }
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const token = await registerRestored(session.client, orgId, registration)
  // The id and the key come from the token or the request file. Its name comes from the server, which may lie. So the
  // pin keeps only a name that this machine already had.
  const name = findPin(session, orgId, token.id)?.name ?? null
  pin(session, orgId, { principalId: token.id, name, publicKeyJwk: registration.publicKeyJwk })
  return {
    json: { token },
    text: () => note(`the token ${token.name} is registered again, with the key and the role that it had`),
  }
}

/** A token that carries a pin has a dot, and only the part before the dot is the token itself. */
const withoutPin = (token: string): string => token.split('.', 1)[0] ?? ''

function readRequest(path: string): TokenRegistration {
  try {
    const { tokenId, tokenHash, publicKeyJwk } = JSON.parse(readTextFile(path))
    if ([tokenId, tokenHash, publicKeyJwk].every((one) => typeof one === 'string'))
      return { tokenId, tokenHash, publicKeyJwk }
  } catch (error) {
    if (error instanceof Failure) throw error
  }
  throw usage(`${path} is not the output of \`skerry token register --request\``)
}
