import type { Command } from 'commander'
import { readCredentials, updateCredentials } from '../credentials.ts'
import { Failure } from '../failure.ts'
import { common, confirmable } from '../options.ts'
import { note, writeJson } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { type Flags, namedProfile, readSettings } from '../settings.ts'

export function register(command: Command): void {
  confirmable(common(command)).option('--all', 'every stored credential').action(logout)
}

/** Takes credentials off this machine. The server still knows them: `skerry token revoke` ends them there. */
async function logout(flags: Flags & { all?: boolean; yes?: boolean }): Promise<void> {
  const names = flags.all ? Object.keys(readCredentials().profiles) : [nameOf(flags)]
  const what = `remove ${names.join(', ')} from this machine, with keys that may have no other copy`
  if (names.length > 0) await confirmOrRefuse(what, flags)
  updateCredentials((file) => {
    for (const name of names) delete file.profiles[name]
    if (file.current === null || names.includes(file.current)) file.current = Object.keys(file.profiles)[0] ?? null
  })
  note(names.length === 0 ? 'nothing is stored' : `removed ${names.join(', ')}; the server still knows the token`)
  if (flags.json) writeJson({ removed: names })
}

function nameOf(flags: Flags): string {
  if (flags.profile !== undefined) return namedProfile(flags.profile).name
  const { credential } = readSettings(flags)
  if (credential.from === 'profile') return credential.name
  if (credential.from === 'machine' && credential.cached) return credential.name
  throw new Failure('notFound', 'nothing is stored for this server and organization', 'see `skerry whoami`')
}
