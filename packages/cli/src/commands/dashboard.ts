import type { Command } from 'commander'
import { compareDashboard } from '../dashboard.ts'
import { Failure } from '../failure.ts'
import { explained, leaf } from '../options.ts'
import { writeJson, writeLine } from '../output.ts'

export function register(command: Command): void {
  explained(
    leaf(command, 'verify <url>', 'Compare the dashboard that a server sends with the dashboard in this installation'),
    'It checks the pages that this server sends to you now. The server may send other pages to another browser.',
  ).action(verify)
}

async function verify(url: string, { json }: { json?: boolean }): Promise<void> {
  const { files, differences } = await compareDashboard(url)
  if (json) writeJson({ files, differences })
  else for (const { path, what } of differences) writeLine(`${path}: ${what}`)
  if (differences.length > 0)
    throw new Failure(
      'failure',
      `${differences.length} of ${files} files are not what this installation has`,
      'compare versions first; if they are the same, do not unlock a keyring in that dashboard',
    )
  if (!json) writeLine(`All ${files} files are what this installation has`)
}
