import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { freePort } from '../../../server/test/services/free-port.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import { rotationConformance } from './conformance.ts'

let saved = () => ''

rotationConformance(
  'redis',
  missing(['redis-server'], 'redis-server'),
  async () => {
    const user = runAs('redis', 'nobody')
    const folder = folderFor(user, 'redis')
    const port = await freePort()
    const aclFile = `${folder.path}/users.acl`
    const lines = [
      'user default on >rootpassword ~* &* +@all',
      'user skerry_admin on >adminpassword resetkeys resetchannels -@all +acl +info +config|get +ping',
      // This account may not run ACL WHOAMI.
      'user app on >first-password ~* resetchannels -@all +@read',
    ]
    writeFileSync(aclFile, `${lines.join('\n')}\n`, { mode: 0o666 })
    saved = () => readFileSync(aclFile, 'utf8')
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder.path, '--save', '', '--aclfile', aclFile]
    const daemon = await startDaemon(findBinary('redis-server')!, args, {
      ready: /Ready to accept connections/,
      user,
      cwd: folder.path,
    })
    return {
      target: {
        config: {
          provider: 'redis',
          executor: 'in_broker',
          connection: { host: '127.0.0.1', port },
          accessLevel: 'readonly',
        },
        credential: `redis://skerry_admin:adminpassword@127.0.0.1:${port}`,
      },
      config: { kind: 'redis', username: 'app' },
      seen: async () => saved(),
      async stop() {
        await daemon.stop()
        folder.remove()
      },
    }
  },
  ({ account, adapter, outbound }) => {
    it('the previous password stays valid until the next change, and both survive a restart', async () => {
      const signsIn = (password: string) => adapter().signsIn(account(), password, outbound())
      await adapter().change(account(), 'one-password', 'one-password', outbound())
      await adapter().change(account(), 'two-password', 'one-password', outbound())
      expect([await signsIn('one-password'), await signsIn('two-password')]).toEqual([true, true])
      await adapter().change(account(), 'three-password', 'two-password', outbound())
      const now = ['one-password', 'two-password', 'three-password'].map(signsIn)
      expect(await Promise.all(now)).toEqual([false, true, true])
      expect(saved().match(/#[0-9a-f]{64}/g)?.length).toBeGreaterThan(3)
    })
  },
)
