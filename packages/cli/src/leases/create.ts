import { rootCertificates } from 'node:tls'
import { cloudTtlDefaultMaxSeconds, leaseFacts, roleNamePattern } from '@skerry/contract/leases/facts'
import { type LeaseVariables, variablesOf } from '@skerry/sdk/internal/lease-variables'
import { createLease, type LeaseTarget, type MadeLease } from '@skerry/sdk/leases'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import type { ExportFormat } from '../formats/names.ts'
import { formatValues } from '../formats.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, warn, writeData } from '../output.ts'
import { inheritedEnvironment } from '../run/environment.ts'
import { findProgram } from '../run/program.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { checkTarget } from './known-target.ts'
import { privateFolder } from './private-folder.ts'
import { whileLeased } from './running.ts'
import { targetOf } from './targets.ts'

interface Options extends Flags {
  ttl?: string
  name?: string
  format: ExportFormat
}

const roleName = new RegExp(roleNamePattern)
const ttlDefaultSeconds = 3600

export async function create(
  wanted: string,
  program: string[],
  { session, flags, input: { asked, env, file } }: SignedIn<Options, typeof parseCreate>,
): Promise<Output | undefined> {
  const target = await targetOf(session, wanted)
  await checkTarget(session, target)
  if (target.provider === 'ssh')
    throw usage(`${target.name} signs SSH certificates`, `run \`skerry ssh ${target.name} user@host\``)
  const ttlSeconds = asked ?? ttlOf(target)
  const make = async (): Promise<MadeLease> => mint(session, { target, ttlSeconds, roleName: flags.name })
  if (file === undefined) return outputOf(await make(), target, flags)
  await whileLeased(session, make, async (made, start) => {
    const { values, files } = variablesOf(notSsh(made), target, rootCertificates)
    const folder = await privateFolder(files)
    try {
      return await start(file, program, { ...env, ...Object.fromEntries(values), ...folder.paths })
    } finally {
      folder.remove()
    }
  })
  return undefined
}

export function parseCreate(flags: Options, _wanted: string, program: string[]) {
  const asked = flags.ttl === undefined ? undefined : parseDuration(flags.ttl, '--ttl')
  if (flags.name !== undefined && !roleName.test(flags.name))
    throw usage(
      '--name is not a valid account name',
      'use lowercase letters, digits and _, not starting with a digit, at most 31 characters',
    )
  const env = inheritedEnvironment(process.env)
  const file = program[0] === undefined ? undefined : findProgram(program[0], env.PATH)
  return { asked, env, file }
}

export async function mint(
  session: Session,
  wish: { target: LeaseTarget; ttlSeconds: number; roleName?: string | undefined; principals?: string[] },
): Promise<MadeLease> {
  const { id: orgId } = await session.org()
  return createLease(session.client, { orgId, ...wish })
}

/** An hour, or as near to it as the target allows. */
function ttlOf({ provider, config }: LeaseTarget): number {
  const { min } = leaseFacts[provider].ttlSeconds
  const { maxTtlSeconds = cloudTtlDefaultMaxSeconds } = config as { maxTtlSeconds?: number }
  return Math.max(min, Math.min(ttlDefaultSeconds, maxTtlSeconds))
}

function notSsh(made: MadeLease): Exclude<MadeLease, { provider: 'ssh' }> {
  if (made.provider === 'ssh') throw usage('SSH certificates need `skerry ssh`')
  return made
}

/** The secrets of a lease are shown only now, because nothing stores them. */
function outputOf(made: MadeLease, target: LeaseTarget, flags: Options): Output {
  const { lease } = made
  const variables = variablesOf(notSsh(made), target, rootCertificates)
  return {
    json: { lease, variables: Object.fromEntries(variables.values) },
    text: () => printValues(variables, flags.format),
    after: () => {
      for (const name of variables.files.keys())
        warn(`the program also needs the certificate of the target, for ${name}`)
      note(
        `lease ${lease.id} on ${target.name} ends at ${notedTime(lease.expiresAt)}; end it earlier with \`skerry lease revoke ${lease.id}\``,
      )
    },
  }
}

function printValues({ values }: LeaseVariables, format: ExportFormat): void {
  const { text, remarks } = formatValues(values, format)
  for (const remark of remarks) warn(remark)
  writeData(text)
}
