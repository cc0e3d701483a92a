import { expect } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { openServerProcess, type ServerProcess } from './server.ts'

/**
 * A server that may reach no internal network, the machine of an admin, and a machine with only a provisioner's token.
 */
export interface InnerNetwork {
  server: ServerProcess
  machine: Machine
  inner: Machine
  tokenId: string
  /** Runs a command of the admin that must succeed. */
  ok(args: string[], input?: string): Promise<{ stdout: string; stderr: string }>
  /** The newest lease. */
  newest(): Promise<{ id: string; status: string; resourceRef: string; lastError: string | null }>
  /** The server that answers at a target; null until the provisioner has signed in to the target. */
  serverOf(target: string): Promise<string | null>
  /** Starts `skerry provisioner`, and waits until it is ready for work. */
  startProvisioner(args?: string[]): Promise<ReturnType<Machine['start']>>
  close(): Promise<void>
}

export async function openInnerNetwork(orgName: string): Promise<InnerNetwork> {
  const server = await openServerProcess()
  const machine = await signedUp(server.url, orgName)
  const inner = await newMachine(server.url)
  const ok = async (args: string[], input?: string) => {
    const ended = await machine.skerry(args, input === undefined ? {} : { input })
    expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
    return ended
  }
  const made = JSON.parse((await ok(['token', 'create', '--name', 'provisioner', '--provisioner', '--json'])).stdout)
  inner.env.SKERRY_TOKEN = made.token
  return {
    ...{ server, machine, inner, ok },
    tokenId: made.serviceToken.id,
    newest: async () => JSON.parse((await ok(['lease', 'list', '--json'])).stdout).leases[0],
    async serverOf(target) {
      const { targets } = JSON.parse((await ok(['lease', 'target', 'list', '--json'])).stdout)
      return targets.find(({ name }: { name: string }) => name === target).server
    },
    async startProvisioner(args = []) {
      const running = inner.start(['provisioner', ...args], { input: null })
      await running.tells('waits for work')
      return running
    },
    async close() {
      await inner.remove()
      await machine.remove()
      await server.close()
    },
  }
}

/** Stops a provisioner after it has finished its jobs. */
export async function stopped({ child, ended }: ReturnType<Machine['start']>): Promise<void> {
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
}
