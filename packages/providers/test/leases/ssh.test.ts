import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { newSerial, signUserCertificate } from '../../src/leases/ssh-certificate.ts'
import { readCaKey, readPublicKey } from '../../src/leases/ssh-keys.ts'
import { testOutside } from '../outside.ts'
import { type Folder, folderFor } from '../services/process.ts'
import { missingSshd, type Sshd, startSshd } from '../services/sshd.ts'
import { leaseId } from './mint.ts'

const run = promisify(execFile)
const skip = missingSshd()
const user = userInfo().username

const caKinds = [
  ['ed25519', [], 'ED25519'],
  ['ecdsa', ['-b', '256'], 'ECDSA'],
  ['ecdsa', ['-b', '384'], 'ECDSA'],
  ['ecdsa', ['-b', '521'], 'ECDSA'],
  ['rsa', ['-b', '3072'], 'RSA'],
] as const

describe.skipIf(skip !== undefined)(`ssh leases${skip === undefined ? '' : ` (skipped: ${skip})`}`, () => {
  let folder: Folder
  let daemon: Sshd
  let port: number
  let keys = 0
  const outside = testOutside()

  const newKey = async (type: string, ...options: string[]) => {
    const file = `${folder.path}/key-${++keys}`
    await run('ssh-keygen', ['-q', '-t', type, ...options, '-N', '', '-C', '', '-f', file])
    return { file, privateKey: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8').trim() }
  }
  type Key = Awaited<ReturnType<typeof newKey>>
  type Config = LeaseTarget<'ssh'>['config']

  const open = (ca: Key, config: Partial<Config> = {}) =>
    openLeaseTarget(
      'ssh',
      {
        config: { provider: 'ssh', executor: 'in_broker', caPublicKey: ca.publicKey, ...config },
        credential: ca.privateKey,
      },
      outside,
    )
  const lease = (publicKey: string, principals = [user], seconds = 600) => ({
    id: leaseId(),
    publicKey,
    principals,
    ttlSeconds: seconds,
    expiresAt: new Date(Date.now() + seconds * 1000),
  })
  /** Has a certificate made for the key, and puts it where `ssh` finds it. */
  const certify = async (ca: Key, key: Key, config: Partial<Config> = {}, principals = [user], seconds = 600) => {
    const minted = lease(key.publicKey, principals, seconds)
    const issued = await (await open(ca, config)).create(minted)
    writeFileSync(`${key.file}-cert.pub`, `${issued.result.certificate}\n`)
    return { minted, issued, shown: (await run('ssh-keygen', ['-L', '-f', `${key.file}-cert.pub`])).stdout }
  }
  const ssh = async (key: Key, ...command: string[]) => {
    const options = ['-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'IdentitiesOnly=yes']
    const files = ['-o', `UserKnownHostsFile=${folder.path}/known_hosts`, '-o', 'IdentityAgent=none', '-i', key.file]
    const exchange = ['-o', 'KexAlgorithms=curve25519-sha256']
    return (await run('ssh', [...options, ...files, ...exchange, '-p', `${port}`, `${user}@127.0.0.1`, ...command]))
      .stdout
  }

  let ca: Key
  beforeAll(async () => {
    folder = folderFor({}, 'sshd')
    const authorities: Key[] = []
    for (const [type, options] of caKinds) authorities.push(await newKey(type, ...options))
    ca = authorities[0]!
    daemon = await startSshd(
      folder,
      authorities.map(({ publicKey }) => publicKey),
    )
    port = daemon.port
  }, 60_000)
  afterAll(async () => {
    await daemon?.stop()
    folder?.remove()
  })

  it.each(caKinds)('an authority of type %s %s signs what ssh-keygen reads and sshd accepts', async (type, options) => {
    const lines = readFileSync(`${folder.path}/authorities`, 'utf8').trim().split('\n')
    const index = caKinds.findIndex(([one, bits]) => one === type && bits === options)
    const file = `${folder.path}/key-${index + 1}`
    const authority = { file, privateKey: readFileSync(file, 'utf8'), publicKey: lines[index]! }
    const { minted, issued, shown } = await certify(authority, await newKey('ed25519'))
    const key = { file: `${folder.path}/key-${keys}`, privateKey: '', publicKey: '' }
    expect(shown).toContain(`Key ID: "${minted.id}"`)
    expect(shown).toContain(`Serial: ${issued.resourceRef}`)
    expect(shown).toMatch(/Principals: \n\s+\S+\n\s+Critical Options: \(none\)\n\s+Extensions: \n\s+permit-pty\n/)
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
  })

  it.each([
    ['ed25519', []],
    ['ecdsa', ['-b', '256']],
    ['ecdsa', ['-b', '384']],
    ['ecdsa', ['-b', '521']],
    ['rsa', ['-b', '3072']],
  ])('a key of type %s %s signs in', async (type, options) => {
    const key = await newKey(type, ...options)
    await certify(ca, key)
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
  })

  it('what a target allows stands in the certificate, in the order that OpenSSH asks for', async () => {
    const key = await newKey('ed25519')
    const { shown } = await certify(ca, key, {
      extensions: ['permit-pty', 'permit-agent-forwarding', 'permit-X11-forwarding'],
      sourceAddresses: ['127.0.0.0/8', '::1'],
      forceCommand: 'echo forced',
    })
    expect(shown).toMatch(/force-command echo forced\n\s+source-address 127\.0\.0\.0\/8,::1\n/)
    expect(shown).toMatch(/permit-X11-forwarding\n\s+permit-agent-forwarding\n\s+permit-pty\n/)
    expect(await ssh(key, 'echo', 'asked')).toBe('forced\n')
  })

  it('a certificate ends with its lease, and serves neither other accounts nor other networks', async () => {
    const key = await newKey('ed25519')
    await certify(ca, key, {}, [user], -1)
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
    await certify(ca, key, {}, ['somebody-else'])
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
    await certify(ca, key, { sourceAddresses: ['192.0.2.0/24'] })
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
  })

  it('says what the authority is, and that nothing can be taken back', async () => {
    const { server, notes } = await (await open(ca)).verify()
    expect(server).toBe('SSH certificate authority (ssh-ed25519)')
    expect(notes[0]).toMatch(/valid until it expires/)
  })

  it('keys that are weak, foreign or no keys are refused', async () => {
    const session = await open(ca)
    const key = await newKey('ed25519')
    const { issued } = await certify(ca, key)
    const weak = await newKey('rsa', '-b', '2048')
    const [type, blob] = key.publicKey.split(' ') as [string, string]
    const bad = {
      'is a certificate': issued.result.certificate,
      'needs 3072 bits': weak.publicKey,
      'is no key of the types': 'ssh-dss AAAAB3NzaC1kc3MAAACBAP',
      'says another type|cannot be read': `ecdsa-sha2-nistp256 ${blob}`,
      'cannot be read': `${type} AAAA`,
    }
    for (const [why, publicKey] of Object.entries(bad))
      await expect(session.create(lease(publicKey))).rejects.toMatchObject({
        reason: 'invalid',
        message: expect.stringMatching(new RegExp(why)),
      })
    await expect(open(weak)).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('principals that are none, foreign or more than one in disguise are refused', async () => {
    const { publicKey } = await newKey('ed25519')
    const session = await open(ca, { allowedPrincipals: ['deploy', 'ops'] })
    for (const principals of [[], ['root'], ['deploy', 'root'], ['deploy,root'], ['deploy root'], ['']])
      await expect(session.create(lease(publicKey, principals))).rejects.toMatchObject({ reason: 'invalid' })
    await session.create(lease(publicKey, ['ops']))
  })

  it('a critical option that nobody knows is refused by a target’s settings, and by hosts', async () => {
    const criticalOptions = { 'require-moon': 'full' }
    await expect(open(ca, { criticalOptions } as Partial<Config>)).rejects.toMatchObject({ reason: 'invalid' })
    const key = await newKey('ed25519')
    const signed = (options: Record<string, string>) => {
      const { id, principals, expiresAt } = lease(key.publicKey)
      const certificate = signUserCertificate(readCaKey(ca.privateKey), {
        key: readPublicKey(key.publicKey, 'publicKey'),
        serial: newSerial(),
        keyId: id,
        principals,
        validAfter: 0,
        validBefore: Math.floor(expiresAt.getTime() / 1000),
        criticalOptions: options,
        extensions: ['permit-pty'],
      })
      writeFileSync(`${key.file}-cert.pub`, `${certificate}\n`)
    }
    signed({})
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
    signed(criticalOptions)
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
  })

  it('unknown extensions, another authority’s public key and a passphrase are refused', async () => {
    const other = await newKey('ed25519')
    const bad = [
      open(ca, { extensions: ['permit-everything' as 'permit-pty'] }),
      open(ca, { caPublicKey: other.publicKey }),
      open(ca, { sourceAddresses: ['10.0.0.0/64'] }),
      open({ ...ca, privateKey: 'not a key' }),
    ]
    for (const opened of bad) await expect(opened).rejects.toMatchObject({ reason: 'invalid' })
    await run('ssh-keygen', ['-q', '-p', '-N', 'passphrase', '-f', other.file])
    const locked = { ...other, privateKey: readFileSync(other.file, 'utf8') }
    await expect(open(locked)).rejects.toMatchObject({ message: expect.stringMatching(/passphrase/) })
  })

  it('takes an authority’s key in PEM, too', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const file = `${folder.path}/pem`
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const publicKey = (await run('ssh-keygen', ['-y', '-f', file])).stdout.trim()
    const authority = { file, publicKey, privateKey: readFileSync(file, 'utf8') }
    await certify(authority, await newKey('ed25519'))
  })
})
