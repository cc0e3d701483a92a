import { Failure } from './failure.ts'
import { printable } from './output.ts'

/** Whether the person would see a browser that opens on this machine: not over SSH, and not without a desktop. */
export function hasDesktop(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): boolean {
  if (env.SSH_CONNECTION || env.SSH_TTY || env.SSH_CLIENT) return false
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
}

/** Checks an address that the server names. An address that is no web page could start a program here. */
export function checkWebAddress(address: string): string {
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return printable(address)
  throw new Failure(
    'refused',
    'the server returned an address that is not a web page',
    'check the server’s address with `skerry doctor`',
  )
}

/** Opens a browser if possible. The terminal shows the address too. */
export async function openBrowser(address: string): Promise<void> {
  try {
    const { default: open } = await import('open')
    const child = await open(address)
    child.on('error', () => {})
  } catch {
    // Without a browser, the person opens the printed address.
  }
}
