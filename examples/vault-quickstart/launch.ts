import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Runs a program as a process of its own, and waits until it prints the text that shows that it is ready.
 *
 * @throws Error if it ends before that.
 */
export async function launch(args: string[], environment: Record<string, string>, ready: RegExp) {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let output = ''
  const printed = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const found = ready.exec(output)
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(`${args[0]} ended: ${output}`)))
  })
  const end = async () => {
    child.kill()
    await ended
  }
  return { printed, [Symbol.asyncDispose]: end }
}

/** Starts a server of this process. Port 0 means any free port. */
export async function listen(server: Server, port: number) {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const end = async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: end }
}
