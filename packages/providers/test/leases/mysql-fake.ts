import type { AddressInfo, Server } from 'node:net'
import mysql from 'mysql2'

export interface MysqlFake {
  port: number
  stop(): Promise<void>
}

/** A server that reports this version. It accepts every setting, and answers only the first query of `verify`. */
export async function mysqlFake(facts: { version: string; plugin: string | null }): Promise<MysqlFake> {
  const open = new Set<unknown>()
  const server = mysql.createServer((connection) => {
    open.add(connection)
    connection.on('error', () => {})
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: facts.version,
      connectionId: 1,
      statusFlags: 2,
      characterSet: 33,
      capabilityFlags: 0xffffff & ~0x800,
      authCallback: (_: unknown, accept: (error: null) => void) => {
        accept(null)
        nextCommand(connection)
      },
    } as never)
    // The driver’s server reports a SET under this name.
    connection.on('stmt_prepare', () => {
      ;(connection as unknown as Writer).writeOk()
      nextCommand(connection)
    })
    connection.on('query', () => {
      const columns = ['version', 'replica', 'plugin'].map((name) => ({
        ...{ catalog: 'def', schema: '', table: '', orgTable: '', name, orgName: name },
        ...{ characterSet: 33, columnLength: 100, columnType: 253, flags: 0, decimals: 0 },
      }))
      const row = { version: facts.version, replica: '0', plugin: facts.plugin }
      ;(connection as unknown as Writer).writeTextResult([row], columns)
      nextCommand(connection)
    })
  })
  const listener = (server as unknown as { _server: Server })._server
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    async stop() {
      for (const connection of open) (connection as { close(): void }).close()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

interface Writer {
  sequenceId: number
  writeOk(): void
  writeTextResult(rows: unknown, columns: unknown): void
}

/** The packets of each command are numbered from 0. The driver’s server does not reset the number itself. */
function nextCommand(connection: unknown): void {
  ;(connection as Writer).sequenceId = 0
}
