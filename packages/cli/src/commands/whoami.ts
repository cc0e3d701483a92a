import type { Command } from 'commander'
import { openDirectory } from '../directory.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { common } from '../options.ts'
import { type Output, writeLine } from '../output.ts'
import { boundPlace } from '../places.ts'
import { typeName } from '../principals.ts'
import type { Settings } from '../settings.ts'

export function register(command: Command): void {
  common(command).action(signedIn(whoami))
}

async function whoami({ session }: SignedIn): Promise<Output> {
  const { settings, client } = session
  const { principal, orgs, user } = await client.me.get()
  // The server refuses this if the credential lacks a key, and then does not say whether it is bound.
  const bound = await boundPlace(session).catch(() => undefined)
  const boundTo = bound ? { environmentId: bound.envId, label: bound.label } : null
  const source = sourceOf(settings)
  return {
    json: { url: settings.url, principal, user, orgs, boundTo, credential: source },
    text: async () => {
      // A credential without an organization has no directory of names.
      const nameOf = user?.email ? undefined : await openDirectory(session, [principal.id]).catch(() => undefined)
      const who = user?.email ?? nameOf?.(principal.id) ?? principal.id
      const where = orgs.map((org) => `${org.name} (${org.slug}), ${org.role}`).join('; ') || 'no organization'
      writeLine(`${typeName(principal.type)} ${who}`)
      writeLine(`${where} at ${settings.url}`)
      if (boundTo) writeLine(`bound to ${boundTo.label}`)
      writeLine(`credential from ${source}`)
    },
  }
}

function sourceOf({ credential }: Settings): string {
  if (credential.from === 'environment') return 'SKERRY_TOKEN'
  if (credential.from === 'machine') return 'SKERRY_CLIENT_ID and SKERRY_CLIENT_SECRET'
  return credential.from === 'profile' ? `profile ${credential.name}` : 'nowhere'
}
