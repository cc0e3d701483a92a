import type { Command } from 'commander'
import { hasDesktop, openBrowser } from '../desktop.ts'
import { addressed, common } from '../options.ts'
import { note, writeJson, writeLine } from '../output.ts'
import { findPlace, namedPlace } from '../places.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  browser: boolean
}

export function register(command: Command): void {
  addressed(common(command)).option('--no-browser', 'only print the address').action(open)
}

async function open(flags: Options): Promise<void> {
  const session = await openSession(flags)
  const { slug } = await session.org()
  const name = namedPlace(session, flags)
  const path = name.env === undefined ? '' : `/envs/${(await findPlace(session, name)).envId}`
  const address = `${session.settings.url}/orgs/${slug}${path}`
  if (flags.json) writeJson({ address })
  else writeLine(address)
  if (flags.browser && hasDesktop()) await openBrowser(address)
  else if (flags.browser) note('there is no desktop here: open the address in a browser')
}
