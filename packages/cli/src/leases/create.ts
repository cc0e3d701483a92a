import { roleNamePattern } from '@skerry/contract/leases/facts'
import type { LeaseVariables } from '@skerry/sdk/internal/lease-variables'
import type { LeaseTarget, MadeLease } from '@skerry/sdk/leases'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import type { ExportFormat } from '../formats/names.ts'
import { formatValues } from '../formats.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, warn, writeData } from '../output.ts'
import { inheritedEnvironment } from '../run/environment.ts'
import { findProgram } from '../run/program.ts'
import type { Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { leaseVariablesOf, mint, runLeased, wishFor } from './with-program.ts'

interface Options extends Flags {
  ttl?: string
  name?: string
  format: ExportFormat
}

const roleName = new RegExp(roleNamePattern)

export async function create(
  wanted: string,
  program: string[],
  { session, flags, input: { asked, env, file } }: SignedIn<Options, typeof parseCreate>,
): Promise<Output | undefined> {
  const wish = { ...(await wishFor(session, wanted, asked)), roleName: flags.name }
  if (file === undefined) return outputOf(await mint(session, wish), wish.target, flags)
  await runLeased(session, [wish], (variables, start) =>
    start(file, program, { ...env, ...Object.fromEntries(variables) }),
  )
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

/** The secrets of a lease are shown only now, because nothing stores them. */
function outputOf(made: MadeLease, target: LeaseTarget, flags: Options): Output {
  const { lease } = made
  const variables = leaseVariablesOf(made, target)
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
