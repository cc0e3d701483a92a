import { Code, Group, Stack, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Copy } from '../ui/copy.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

const pemQuery = (publicKeyJwk: string) =>
  queryOptions({
    queryKey: ['pem', publicKeyJwk],
    queryFn: () => toPem(publicKeyJwk),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Shows a public key in the two formats that programs accept. */
export function PublicKey({ publicKeyJwk }: { publicKeyJwk: string }) {
  const pem = useQuery(pemQuery(publicKeyJwk))
  return (
    <Stack gap="sm">
      <Form name="JWK" text={publicKeyJwk} />
      {pem.data && <Form name="PEM" text={pem.data} />}
      <ProblemAlert error={pem.error} />
    </Stack>
  )
}

function Form({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Group gap={4}>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Copy text={text} label={`Copy the ${name}`} />
      </Group>
      <Code
        block
        tabIndex={0}
        aria-label={`Public key as ${name}`}
        style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}
      >
        {text}
      </Code>
    </div>
  )
}

const imports: Record<string, EcKeyImportParams | AlgorithmIdentifier> = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256' },
  Ed25519: { name: 'Ed25519' },
}

/** Encodes the key as SubjectPublicKeyInfo in PEM (RFC 7468): 64 characters a line. */
async function toPem(publicKeyJwk: string): Promise<string> {
  const jwk = JSON.parse(publicKeyJwk) as JsonWebKey
  const key = await crypto.subtle.importKey('jwk', jwk, imports[jwk.crv ?? ''] ?? '', true, ['verify'])
  const base64 = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey('spki', key))))
  return ['-----BEGIN PUBLIC KEY-----', ...(base64.match(/.{1,64}/g) ?? []), '-----END PUBLIC KEY-----', ''].join('\n')
}
