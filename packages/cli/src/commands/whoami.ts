import type { Command } from 'commander'
import { common } from '../options.ts'
import { writeJson, writeLine } from '../output.ts'
import { boundPlace } from '../places.ts'
import { openSession } from '../session.ts'
import type { Flags, Settings } from '../settings.ts'

export function register(command: Command): void {
  common(command).action(whoami)
}

async function whoami(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { settings, client } = session
  const { principal, orgs, user } = await client.me.get()
  // Refused where a key is missing: then the server does not tell.
  const bound = await boundPlace(session).catch(() => undefined)
  const boundTo = bound ? { environmentId: bound.envId, label: bound.label } : null
  const source = sourceOf(settings)
  if (flags.json) return writeJson({ url: settings.url, principal, user, orgs, boundTo, credential: source })
  const who = user?.email ?? principal.id
  const where = orgs.map((org) => `${org.name} (${org.slug}), ${org.role}`).join('; ') || 'no organization'
  writeLine(`${principal.type} ${who}`)
  writeLine(`${where} at ${settings.url}`)
  if (boundTo) writeLine(`bound to ${boundTo.label}`)
  writeLine(`credential from ${source}`)
}

function sourceOf({ credential }: Settings): string {
  if (credential.from === 'environment') return 'SKERRY_TOKEN'
  if (credential.from === 'machine') return 'SKERRY_CLIENT_ID and SKERRY_CLIENT_SECRET'
  return credential.from === 'profile' ? `profile ${credential.name}` : 'nowhere'
}
