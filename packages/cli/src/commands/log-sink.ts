import type { Command } from 'commander'
import { Failure, usage } from '../failure.ts'
import { type InOrg, inOrg } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { confirmable, explained, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { refuseBareHost } from '../server-url.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'

export function register(command: Command): void {
  leaf(command, 'status', 'Show the collector of the audit log, and whether entries arrive')
    .alias('show')
    .action(inOrg(show))
  explained(leaf(command, 'set <endpoint>', 'Send the audit log to an OpenTelemetry collector'), setHelp.trim())
    .option('--headers-file <path>', 'file with lines of `name: value` to send with each request; use - for stdin')
    .option('--no-headers', 'delete the stored headers')
    .option('--disable', 'keep the settings and send nothing')
    .action(inOrg(set, parseSet))
  leaf(command, 'test', 'Send a sample entry to the collector of the audit log').action(inOrg(test))
  confirmable(leaf(command, 'rm', 'Stop sending the audit log')).action(inOrg(remove))
}

const setHelp = `
The endpoint is used as given: https://collector.example.com/v1/logs. Headers that are left out stay as they are.
They often are credentials, so they are taken from a file, and nobody is shown them again.`

async function show({ session, orgId }: InOrg): Promise<Output> {
  const { logSink } = await session.client.logSink.get({ params: { orgId } })
  return {
    json: { logSink },
    text: () => {
      if (!logSink) return writeLine('the audit log is not sent anywhere; see `skerry log-sink set`')
      const { endpoint, enabled, headerNames, lastSuccessAt, lastAttemptAt, lastError } = logSink
      writeTable(
        ['setting', 'value'],
        [
          ['endpoint', endpoint],
          ['enabled', enabled ? 'yes' : 'no'],
          ['headers', headerNames.join(', ')],
          ['last success', shownTime(lastSuccessAt)],
          ['last attempt', shownTime(lastAttemptAt)],
          ['last error', lastError ?? ''],
          ['position', String(logSink.position)],
          ['entries waiting', String(logSink.waitingEntries)],
          ['records rejected', String(logSink.rejectedRecords)],
        ],
      )
    },
  }
}

async function set(
  endpoint: string,
  {
    session,
    flags,
    orgId,
    input: { headers },
  }: InOrg<Flags & { headersFile?: string; headers?: boolean; disable?: boolean }, typeof parseSet>,
): Promise<Output> {
  const body = { endpoint, enabled: !flags.disable, ...(headers ? { headers } : {}) }
  const { logSink } = await session.client.logSink.set({ params: { orgId }, body })
  return {
    json: { logSink },
    after: () =>
      note(
        logSink.enabled
          ? 'new entries are sent to this endpoint; try it with `skerry log-sink test`'
          : 'the settings are stored, and nothing is sent; without --disable, `skerry log-sink set` starts sending',
      ),
  }
}

function parseSet(flags: Flags & { headersFile?: string; headers?: boolean; disable?: boolean }, endpoint: string) {
  refuseBareHost(endpoint)
  if (!/^https?:\/\/[\u0021-\u007e]+$/.test(endpoint) || !URL.canParse(endpoint))
    throw usage('the endpoint is not a URL', 'write it as https://collector.example.com/v1/logs')
  return { headers: headersOf(flags) }
}

function headersOf(flags: { headersFile?: string; headers?: boolean }): Record<string, string> | undefined {
  if (flags.headers === false) return {}
  if (flags.headersFile === undefined) return undefined
  const lines = readTextFile(flags.headersFile).split('\n')
  const headers: Record<string, string> = {}
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw usage(`line ${index + 1} of ${flags.headersFile} does not have the form 'name: value'`)
    headers[name] = value
  }
  return headers
}

async function remove({ session, flags, orgId, org: { slug } }: InOrg<Confirmable>): Promise<Output> {
  await confirmOrRefuse(`stops sending the audit log of ${slug} to its collector`, flags)
  await session.client.logSink.delete({ params: { orgId } })
  note('the audit log is no longer sent')
  return { json: { ok: true } }
}

async function test({ session, orgId }: InOrg): Promise<Output> {
  const result = await session.client.logSink.test({ params: { orgId } })
  return {
    json: result,
    text: () => {
      if (result.ok) writeLine(`the collector answered ${result.status}`)
    },
    after: () => {
      if (!result.ok) throw new Failure('unavailable', `the collector refused the sample: ${result.error}`)
    },
  }
}
