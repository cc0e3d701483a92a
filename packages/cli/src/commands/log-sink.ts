import type { Command } from 'commander'
import { Failure, usage } from '../failure.ts'
import { readTextFile } from '../input.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'show', 'Where the audit trail is sent, and how delivery goes').action(show)
  leaf(command, 'set <endpoint>', 'Send the audit trail to an OTLP collector from now on')
    .option('--headers-file <path>', 'file with lines of `name: value`, sent with each request; - for stdin')
    .option('--no-headers', 'drop the headers that are stored')
    .option('--disable', 'keep it, and send nothing')
    .addHelpText('after', setHelp)
    .action(set)
  confirmable(leaf(command, 'rm', 'Send the trail no longer')).action(remove)
  leaf(command, 'test', 'Send one made-up record now').action(test)
}

const setHelp = `
The endpoint is used as given: https://collector.example.com/v1/logs. Headers that are left out stay as they are.
They often are credentials, so they are taken from a file, and nobody is shown them again.`

async function show(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { logSink } = await session.client.logSink.get({ params: { orgId } })
  if (flags.json) return writeJson({ logSink })
  if (!logSink) return writeLine('there is no log sink')
  const { endpoint, enabled, headerNames, lastSuccessAt, lastAttemptAt, lastError } = logSink
  writeTable(
    ['what', 'value'],
    [
      ['endpoint', endpoint],
      ['enabled', enabled ? 'yes' : 'no'],
      ['headers', headerNames.join(', ')],
      ['last success', lastSuccessAt ?? 'never'],
      ['last attempt', lastAttemptAt ?? 'never'],
      ['last error', lastError ?? ''],
      ['position', String(logSink.position)],
      ['entries waiting', String(logSink.waitingEntries)],
      ['records rejected', String(logSink.rejectedRecords)],
    ],
  )
}

async function set(
  endpoint: string,
  flags: Flags & { headersFile?: string; headers?: boolean; disable?: boolean },
): Promise<void> {
  const headers = headersOf(flags)
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const body = { endpoint, enabled: !flags.disable, ...(headers ? { headers } : {}) }
  const { logSink } = await session.client.logSink.set({ params: { orgId }, body })
  if (flags.json) writeJson({ logSink })
  note(logSink.enabled ? 'entries are sent there; try it with `skerry log-sink test`' : 'stored; nothing is sent')
}

function headersOf(flags: { headersFile?: string; headers?: boolean }): Record<string, string> | undefined {
  if (flags.headers === false) return {}
  if (flags.headersFile === undefined) return undefined
  const lines = readTextFile(flags.headersFile).split('\n')
  const headers: Record<string, string> = {}
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw usage(`line ${index + 1} of the headers is not 'name: value'`)
    headers[name] = value
  }
  return headers
}

async function remove(flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId, slug } = await session.org()
  await confirmOrRefuse(`stops sending the audit log of ${slug} to its collector`, flags)
  await session.client.logSink.delete({ params: { orgId } })
  note('removed the log sink')
  if (flags.json) writeJson({ ok: true })
}

async function test(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const result = await session.client.logSink.test({ params: { orgId } })
  if (flags.json) writeJson(result)
  if (!result.ok) throw new Failure('unavailable', `the collector did not take it: ${result.error}`)
  if (!flags.json) writeLine(`the collector answered ${result.status}`)
}
