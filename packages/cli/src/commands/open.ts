import type { Command } from 'commander'
import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { addressed, common } from '../options.ts'
import type { Output } from '../output.ts'
import { findPlace, namedPlace } from '../places.ts'

export function register(command: Command): void {
  addressed(common(command)).option('--no-browser', 'print the address and do not open it').action(signedIn(open))
}

async function open({ session, flags }: SignedIn<BrowserOptions>): Promise<Output> {
  const name = namedPlace(session, flags)
  const path = name.env === undefined ? '' : `/envs/${(await findPlace(session, name)).envId}`
  return showPage(session, path, flags)
}
