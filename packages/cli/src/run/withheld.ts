import { loadingReason, type Withheld } from '@skerry/sdk/loading-names'
import { warn } from '../output.ts'

/** Warns about a secret that the program does not get. */
export const tellWithheld = ({ name, reason }: Withheld): void =>
  warn(
    `the program is not given ${name}: ${reason}; to give it, list ${name} under allowNames in skerry.json, or ${option(name)}`,
  )

/** Warns when a secret with such a name is stored, so that nobody is surprised when a program does not get it. */
export function warnLoadingName(name: string): void {
  const reason = loadingReason(name)
  if (reason !== undefined)
    warn(`\`skerry run\` gives no program ${name} unless skerry.json or ${option(name)} says so: ${reason}`)
}

const option = (name: string) => `--allow-name ${name}`
