import { usage } from '../failure.ts'
import { writeData } from '../output.ts'
import { bundleVariables, proxyVariables } from './child-environment.ts'
import { type Wished, wishedSettings } from './settings.ts'

interface Options extends Wished {
  image?: string
}

/**
 * The folder that the containers share contains only the certificate. The key of the certificate stays with the proxy.
 */
const shared = '/skerry/shared'
const kept = '/skerry/kept'
const certificate = `${shared}/skerry-proxy-ca.pem`

/** The health check accepts any answer: if the proxy listens, its certificate exists. */
const listens = "fetch('http://127.0.0.1:8081').catch(() => process.exit(1))"

/** Prints a Compose file with a proxy, and with settings for services that can reach only the proxy. */
export async function compose({ image, ...wished }: Options): Promise<void> {
  if (image === undefined) throw usage('--image is missing', 'name an image that contains skerry')
  if (!/^[\w.:/@-]+$/.test(image))
    throw usage('--image must be the name of an image, such as registry.example.com/skerry:1')
  const authority = { cert: certificate, key: `${kept}/skerry-proxy-ca-key.pem` }
  // Other hosts are denied and not tunnelled, because services trust only the certificate of the proxy.
  const place = { address: '0.0.0.0', unmatched: 'deny', authority } as const
  const settings = await wishedSettings(wished, { file: '--preset', folder: '/skerry', place })
  writeData(composeFile(image, settings))
}

const composeFile = (image: string, settings: string) => `\
# Written by \`skerry proxy compose\`. SKERRY_TOKEN and SKERRY_URL come from where \`docker compose up\` is run. The token reads one
# environment; a service that merges *behind-proxy has neither the token nor a network but the proxy's:
#
#   services:
#     agent:
#       <<: *behind-proxy
#       image: my-agent

x-behind-proxy: &behind-proxy
  networks: [agents]
  depends_on:
    skerry-proxy: { condition: service_healthy }
  volumes: ["shared:${shared}:ro"]
  environment:
${variables()
  .map(([name, value]) => `    ${name}: ${value}\n`)
  .join('')}
services:
  skerry-proxy:
    image: ${image}
    command: [skerry, proxy, run, --config, /skerry/skerry-proxy.toml]
    environment:
      SKERRY_TOKEN: \${SKERRY_TOKEN:?is not set}
      SKERRY_URL: \${SKERRY_URL:?is not set}
      HOME: ${kept}
    networks: [agents, outside]
    volumes: ["shared:${shared}", "kept:${kept}"]
    configs: [{ source: skerry-proxy, target: /skerry/skerry-proxy.toml }]
    healthcheck: { test: [CMD, node, -e, "${listens}"], interval: 2s, retries: 30 }
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    restart: unless-stopped

networks:
  # Without a way out.
  agents: { internal: true }
  outside: {}

volumes:
  shared: {}
  kept: {}

configs:
  skerry-proxy:
    content: |
${settings.replaceAll('$', '$$$$').replace(/^(?=.)/gm, '      ')}`

function variables(): [string, string][] {
  const proxy = 'http://skerry-proxy:8081'
  return [
    ...proxyVariables.map((name): [string, string] => [name, proxy]),
    ...[...bundleVariables, 'NODE_EXTRA_CA_CERTS'].map((name): [string, string] => [name, certificate]),
    ['NODE_USE_ENV_PROXY', '"1"'],
  ]
}
