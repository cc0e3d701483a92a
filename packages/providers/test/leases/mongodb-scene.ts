import { readFileSync } from 'node:fs'
import { MongoClient } from 'mongodb'
import { certificateFor } from '../services/certificate.ts'
import { folderFor } from '../services/process.ts'
import type { Scene } from './conformance.ts'
import { type MongodbFake, startMongodbFake } from './mongodb-fake.ts'

export interface MongodbScene extends Scene<'mongodb'> {
  fake: MongodbFake
}

/** The fake with TLS. Its accounts sign in with the official driver. */
export async function mongodbScene(): Promise<MongodbScene> {
  const folder = folderFor({}, 'mongodb-tls')
  const { certFile, keyFile, pem } = certificateFor({}, folder)
  const tls = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  const fake = await startMongodbFake({ user: 'skerry', password: 'admin/p@ss' }, tls)
  const connection = { host: 'localhost', port: fake.port, database: 'shop', caCertificate: pem }
  return {
    fake,
    reconnects: true,
    server: /^MongoDB 7\.0\.14$/,
    target: (accessLevel) => ({
      config: { provider: 'mongodb', executor: 'in_broker', connection, accessLevel, tls: 'verify-full' },
      credential: `mongodb://skerry:admin%2Fp%40ss@localhost:${fake.port}/shop?authSource=admin`,
    }),
    async signIn(username, password) {
      const client = new MongoClient(`mongodb://localhost:${fake.port}/`, {
        auth: { username, password },
        authSource: 'admin',
        directConnection: true,
        tls: true,
        ca: pem,
        maxPoolSize: 1,
      })
      const shop = client.db('shop')
      const leave = () => client.close(true)
      await shop.command({ ping: 1 }).catch(async (error) => {
        await leave()
        throw error
      })
      const read = () => shop.command({ find: 'notes' })
      return {
        read,
        write: () => shop.command({ insert: 'notes', documents: [{ text: 'more' }] }),
        administer: () => client.db('admin').command({ createUser: 'mine', pwd: 'theirs', roles: [] }),
        /** The connection stays open, and its next operation is refused. */
        get ended() {
          return read().then(() => Promise.reject(new Error('the account still reads')), leave)
        },
        close: leave,
      }
    },
    exists: async (name) => fake.accounts.has(name),
    async createForeign(user) {
      fake.accounts.set(user, { user, roles: [], password: 'theirs' })
    },
    // One command creates a complete account. After a crash, nobody knows that account.
    async createHalf({ id, roleName: user }) {
      const roles = [{ role: 'read', db: 'shop' }]
      fake.accounts.set(user, { user, roles, password: 'told-nobody', customData: { skerryLease: id } })
    },
    // `revoke` first ends the operations of the account, and that leaves no trace.
    async endHalf() {},
    async stop() {
      await fake.stop()
      folder.remove()
    },
  }
}
