import type { Command } from 'commander'
import { parseDuration } from '../duration.ts'
import { Failure, usage } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { checkTarget } from '../leases/known-target.ts'
import { privateFolder } from '../leases/private-folder.ts'
import { whileLeased } from '../leases/running.ts'
import { targetOf } from '../leases/targets.ts'
import { mint } from '../leases/with-program.ts'
import { common, explained, gather } from '../options.ts'
import { inheritedEnvironment } from '../run/environment.ts'
import { findProgram } from '../run/program.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  ttl: string
  principal?: string[]
}

export function register(command: Command): void {
  explained(common(command), help)
    .usage('<target> [user@]host [ssh arguments...]')
    .argument('<target>', 'lease target that signs certificates')
    .argument('<destination>', 'user@host or ssh://user@host:port')
    .argument('[arguments...]', 'options of ssh, or a command')
    .passThroughOptions()
    .option('--ttl <duration>', 'lifetime of the certificate; a session may last longer', '5m')
    .option('--principal <name>', 'login name in the certificate (default: the user); repeatable', gather)
    .action(signedIn(ssh, parseSsh))
}

const help =
  'Creates a key, gets a certificate for it and runs ssh. Key and certificate are in a private folder, which is deleted when ssh ends, even if skerry is killed.'

async function ssh(
  wanted: string,
  destination: string,
  more: string[],
  { session, flags, input: { ttlSeconds, env, file } }: SignedIn<Options, typeof parseSsh>,
): Promise<void> {
  const target = await targetOf(session, wanted)
  await checkTarget(session, target)
  if (target.provider !== 'ssh')
    throw usage(`${target.name} is no target for SSH`, `run \`skerry lease create ${target.name}\``)
  const { user } = (target.config as { connection?: { user?: string } }).connection ?? {}
  const named = userOf(destination)
  const principals = flags.principal ?? [named ?? user ?? noUser()]
  const make = () => mint(session, { target, ttlSeconds, principals })
  await whileLeased(session, [make], async ([made], start) => {
    if (made?.provider !== 'ssh')
      throw new Failure(
        'failure',
        `the server made a lease of another kind than SSH on ${target.name}`,
        'check the server with `skerry doctor`',
      )
    const { key, certificate } = made
    const files = { key: key.privateKey, 'key-cert.pub': `${certificate}\n` }
    const folder = await privateFolder(new Map(Object.entries(files)))
    try {
      const login = named === undefined && user !== undefined ? ['-l', user] : []
      const own = ['-i', folder.paths.key!, '-o', `CertificateFile=${folder.paths['key-cert.pub']}`]
      return await start(file, ['ssh', ...own, '-o', 'IdentitiesOnly=yes', ...login, destination, ...more], env)
    } finally {
      folder.remove()
    }
  })
}

function parseSsh(flags: Options, _wanted: string, destination: string) {
  const ttlSeconds = parseDuration(flags.ttl, '--ttl')
  const env = inheritedEnvironment(process.env)
  const file = findProgram('ssh', env.PATH)
  if (destination.startsWith('-'))
    throw usage(
      'an option stands where the host should',
      'write options of skerry before the target, those of ssh behind the host',
    )
  return { ttlSeconds, env, file }
}

/** Returns the user in `user@host` or `ssh://user@host:port`; undefined if there is none. */
function userOf(destination: string): string | undefined {
  const [, user] = /^(?:ssh:\/\/)?(.+)@[^@]+$/.exec(destination) ?? []
  return user
}

function noUser(): never {
  throw usage('the destination names no user', 'write user@host, or use --principal')
}
