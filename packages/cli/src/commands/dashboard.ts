import type { Command } from 'commander'
import { compareDashboard } from '../dashboard.ts'
import { Failure } from '../failure.ts'
import { writeJson, writeLine } from '../output.ts'

export function register(command: Command): void {
  command
    .command('verify <url>')
    .description('Compare the dashboard and the Connect page that a server serves with those of this installation')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nIt says what this server serves to you, now. It cannot say what the server serves to another browser.',
    )
    .action(verify)
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
