import type { Command } from 'commander'
import { boundHere } from '../current-place.ts'
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
  const bound = await boundHere(session, flags, name.branch)
  const place = bound ?? (name.env === undefined ? undefined : await findPlace(session, name))
  return showPage(session, place === undefined ? '' : `/envs/${place.envId}`, flags)
}
