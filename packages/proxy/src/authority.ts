// The certificate library uses decorators, which need this import first.
import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import * as x509 from '@peculiar/x509'

/**
 * The proxy's own certificate authority. Clients that trust it let the proxy read their requests to hosts with a rule.
 */
export interface Authority {
  certificatePath: string
  /** The certificate that a client gets instead of the host's own. */
  contextFor(host: string): Promise<SecureContext>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 86_400_000
const authorityDays = 5 * 365
const leafDays = 30
/** Certificates begin one hour early, because clocks of clients may be behind. */
const backMs = 3_600_000
const leavesMax = 1000

/**
 * Opens the authority, or creates one if neither file exists.
 *
 * @throws Error that names the file, if others can read it, it has expired, or it does not match the other file.
 */
export async function openAuthority(certPath: string, keyPath: string): Promise<Authority> {
  const [cert, key] = [readIfThere(certPath), readIfThere(keyPath)]
  if ((cert === null) !== (key === null))
    throw new Error(`${cert === null ? certPath : keyPath} is missing, but the other file of the pair exists`)
  const pair = cert !== null && key !== null ? { cert, key } : await create(certPath, keyPath)
  check(pair, certPath, keyPath)
  const issuer = new x509.X509Certificate(pair.cert)
  const issuerKey = await importKey(pair.key)
  const own = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const ownPem = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', own.privateKey), 'PRIVATE KEY')
  const leaves = new Map<string, { context: Promise<SecureContext>; endsAt: number }>()
  const mint = async (host: string) => {
    const leaf = await leafOf(host, { issuer, issuerKey, publicKey: own.publicKey })
    return createSecureContext({ cert: `${leaf}\n${pair.cert}`, key: ownPem, minVersion: 'TLSv1.2' })
  }
  return {
    certificatePath: certPath,
    contextFor(host) {
      const known = leaves.get(host)
      if (known && Date.now() < known.endsAt) return known.context
      const made = { context: mint(host), endsAt: Date.now() + (leafDays * dayMs) / 2 }
      if (leaves.size >= leavesMax) leaves.delete(leaves.keys().next().value!)
      leaves.set(host, made)
      return made.context
    },
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function check({ cert, key }: { cert: string; key: string }, certPath: string, keyPath: string): void {
  if (process.platform !== 'win32' && (lstatSync(keyPath).mode & 0o077) !== 0)
    throw new Error(
      `other users can read ${keyPath}: set its mode to 0600, and replace the key if somebody may have read it`,
    )
  const again = `delete ${certPath} and ${keyPath}, and the proxy makes new ones`
  let parsed: X509Certificate
  try {
    parsed = new X509Certificate(cert)
    createSecureContext({ cert, key })
  } catch {
    throw new Error(`${certPath} and ${keyPath} are not a certificate and its key: ${again}`)
  }
  if (!parsed.ca) throw new Error(`${certPath} is not the certificate of a certificate authority: ${again}`)
  if (Date.parse(parsed.validTo) < Date.now() + leafDays * dayMs) throw new Error(`${certPath} has expired: ${again}`)
}

async function create(certPath: string, keyPath: string): Promise<{ cert: string; key: string }> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: 'CN=Skerry proxy, O=Made on this machine',
    notBefore: new Date(Date.now() - backMs),
    notAfter: new Date(Date.now() + authorityDays * dayMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  const cert = `${made.toString('pem')}\n`
  const key = `${x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')}\n`
  // `wx` creates a file and never overwrites an existing one.
  writeFileSync(keyPath, key, { mode: 0o600, flag: 'wx' })
  writeFileSync(certPath, cert, { mode: 0o644, flag: 'wx' })
  return { cert, key }
}

const importKey = (pem: string) =>
  crypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), algorithm, false, ['sign'])

/** Positive, with 120 random bits. */
const newSerial = () => `01${Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex')}`

interface Issuing {
  issuer: x509.X509Certificate
  issuerKey: CryptoKey
  publicKey: CryptoKey
}

async function leafOf(host: string, { issuer, issuerKey, publicKey }: Issuing): Promise<string> {
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    // Clients check the alternative name. The common name has at most 64 characters.
    subject: [{ CN: [host.slice(0, 64)] }],
    issuer: issuer.subject,
    notBefore: new Date(Date.now() - backMs),
    notAfter: new Date(Date.now() + leafDays * dayMs),
    publicKey,
    signingKey: issuerKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  return leaf.toString('pem')
}
