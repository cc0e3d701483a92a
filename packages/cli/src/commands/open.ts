import type { Command } from 'commander'
import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { addressed, common } from '../options.ts'
import { findPlace, namedPlace } from '../places.ts'
import { openSession } from '../session.ts'

export function register(command: Command): void {
  addressed(common(command)).option('--no-browser', 'only print the address').action(open)
}

async function open(flags: BrowserOptions): Promise<void> {
  const session = await openSession(flags)
  const name = namedPlace(session, flags)
  const path = name.env === undefined ? '' : `/envs/${(await findPlace(session, name)).envId}`
  await showPage(session, path, flags)
}
