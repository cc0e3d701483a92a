import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { settings } from '../packages/server/src/settings.ts'

// The files of `deploy/`. These rules must hold for a server with keys, whoever edits the files.

const root = join(import.meta.dirname, '../deploy')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
// biome-ignore lint/suspicious/noExplicitAny: the schemas belong to other programs
type Document = any
const documentsOf = (path: string): Document[] => parseAllDocuments(read(path)).map((one) => one.toJS())
const uid = 65532

test('every setting that a file names is one of the server, because an unknown one stops the start', () => {
  const named = globSync(['Dockerfile', '*.service', 'compose.yaml', 'kubernetes/*.yaml'], { cwd: root }).flatMap(
    (path) =>
      [...read(path).matchAll(/^\s*(?:- name: |- )?(?:ENV |Environment=)?.*?\b(SKERRY_[A-Z_]+)[=:]?/gm)].map(
        ([, name]) => name,
      ),
  )
  // Compose has its own names for the version of the image and the password.
  const known = new Set([...Object.keys(settings), 'SKERRY_VERSION', 'SKERRY_DATABASE_PASSWORD'])
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !known.has(name ?? ''))).toEqual([])
})

test('Compose starts the server without rights, on a read-only disk, and lets nothing outside reach the database', () => {
  const [{ services, networks }] = documentsOf('compose.yaml')
  for (const service of Object.values<Document>(services)) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service.privileged ?? false).toBe(false)
  }
  expect(services.server).toMatchObject({ user: `${uid}:${uid}`, ports: ['127.0.0.1:4700:4700'] })
  expect(services.server.depends_on.database.condition).toBe('service_healthy')
  expect(services.database).toMatchObject({ networks: ['database'] })
  expect(services.database.ports).toBeUndefined()
  expect(networks.database.internal).toBe(true)
  // The server believes what only the gateway of its own network says about callers.
  expect(services.server.environment.SKERRY_TRUSTED_PROXIES).toBe(networks.outside.ipam.config[0].gateway)
})

test('Compose contains no secret, and refuses to start without one', () => {
  const [{ services }] = documentsOf('compose.yaml')
  const { SKERRY_SERVER_KEY, SKERRY_DATABASE_URL } = services.server.environment
  expect(SKERRY_SERVER_KEY).toMatch(/^\$\{SKERRY_SERVER_KEY:\?/)
  expect(SKERRY_DATABASE_URL).toMatch(/:\$\{SKERRY_DATABASE_PASSWORD:\?[^}]+\}@database/)
})

const manifests = globSync('kubernetes/*.yaml', { cwd: root }).flatMap(documentsOf)
const ofKind = (kind: string): Document[] => manifests.filter((one) => one.kind === kind)
const [deployment] = ofKind('Deployment')
const pod = deployment.spec.template.spec

test('the pods pass the restricted Pod Security Standard, which the namespace enforces', () => {
  expect(ofKind('Namespace')[0].metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: uid,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  for (const container of pod.containers)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  for (const unsafe of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) expect(pod[unsafe]).toBeUndefined()
  expect(pod.volumes.flatMap(({ name: _, ...kinds }: Document) => Object.keys(kinds))).toEqual(['emptyDir', 'emptyDir'])
})

test('the pods get no credential of the cluster, and no variables of services that the server would refuse', () => {
  expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
  expect(ofKind('ServiceAccount')[0].automountServiceAccountToken).toBe(false)
})

test('secrets come from a Secret, which no file contains', () => {
  expect(ofKind('Secret')).toEqual([])
  const [{ env }] = pod.containers
  const secret = (name: string) => env.find((one: Document) => one.name === name).valueFrom.secretKeyRef.name
  for (const name of ['SKERRY_DATABASE_URL', 'SKERRY_SERVER_KEY', 'SKERRY_SMTP_URL'])
    expect(secret(name)).toBe('skerry-server')
})

test('the balancer asks whether reads work, and the cluster restarts only a process that does not answer', () => {
  const [{ readinessProbe, livenessProbe, startupProbe }] = pod.containers
  const paths = [readinessProbe, livenessProbe, startupProbe].map(({ httpGet }: Document) => httpGet.path)
  expect(paths).toEqual(['/ready', '/health', '/ready'])
  // During a migration, no server is ready for some seconds, and the old ones must still get requests.
  expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeGreaterThanOrEqual(10)
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(8 + pod.containers[0].lifecycle.preStop.sleep.seconds)
})

test('the service, the policies and the budget select the pods', () => {
  const { labels } = deployment.spec.template.metadata
  expect(ofKind('Service')[0].spec.selector).toEqual(labels)
  expect(ofKind('PodDisruptionBudget')[0].spec.selector.matchLabels).toEqual(labels)
  expect(deployment.spec.selector.matchLabels).toEqual(labels)
})

test('network policies deny what no rule allows, and no rule reaches metadata services or opens all ports', () => {
  const [denied, allowed] = ofKind('NetworkPolicy')
  expect(denied.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  expect(allowed.spec.podSelector.matchLabels).toEqual(deployment.spec.template.metadata.labels)
  for (const rule of [...allowed.spec.ingress, ...allowed.spec.egress]) expect(rule.ports.length).toBeGreaterThan(0)
  const blocks = allowed.spec.egress.flatMap(({ to }: Document) => to.flatMap((one: Document) => one.ipBlock ?? []))
  const open = blocks.filter(({ cidr }: Document) => cidr === '0.0.0.0/0')
  expect(open.map(({ except }: Document) => except)).toEqual([['169.254.0.0/16']])
})

const lacks = (program: string, ...args: string[]) => spawnSync(program, args).error !== undefined

test.skipIf(lacks('kubectl', 'version', '--client'))('kubectl puts the manifests together', () => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(root, 'kubernetes')], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  const built = parseAllDocuments(stdout).map((one) => one.toJS())
  expect(built.map(({ kind }) => kind).sort()).toEqual(
    [...manifests, { kind: 'ConfigMap' }]
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'Kustomization')
      .sort(),
  )
  expect(built.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers[0].image).toMatch(/^registry\./)
})

test.skipIf(lacks('systemd-analyze', '--version'))('systemd accepts the unit, and rates its exposure as low', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-unit-'))
  // systemd looks for the program and the manual too, which are not installed here.
  const unit = join(folder, 'skerry-server.service')
  writeFileSync(
    unit,
    read('skerry-server.service')
      .replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')
      .replace(/^Doc.*$/m, ''),
  )
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(2)
})
