import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import type { SyncRow } from './row.ts'

// The settings of secret stores in clouds. Rules between two fields are in rules.ts.

const Region = Type.String({
  pattern: '^[a-z]{2}(?:-[a-z]+){1,3}-[0-9]$',
  description: 'AWS region in which the secrets are written.',
})

const AccessKeyId = Type.String({
  pattern: '^(?!ASIA)[A-Z0-9]{16,128}$',
  description:
    'Id of an IAM user’s access key (AKIA...). Keys of a session (ASIA...) do not work here, because they expire.',
})

const KmsKeyId = (maxLength: number) =>
  Type.Optional(
    Type.String({
      pattern: `^[A-Za-z0-9:/_-]{1,${maxLength}}$`,
      description:
        'Id, alias or ARN of the KMS key with which AWS encrypts. Default: the key that AWS manages for the service.',
    }),
  )

const Layout = Type.Union([Type.Literal('secret-per-name'), Type.Literal('json-bundle')], {
  description:
    '`secret-per-name` writes one secret for each name. `json-bundle` writes one secret with all names as a JSON object.',
})

/** Secret stores in clouds, by tag. */
export const syncClouds = {
  'cloud-a-secrets-manager': {
    config: Strict({ provider: Type.Literal('cloud-a-secrets-manager'), region: Region, accessKeyId: AccessKeyId }),
    destination: Strict({
      provider: Type.Literal('cloud-a-secrets-manager'),
      layout: Layout,
      pathPrefix: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9/_+=.@-]{1,400}$',
          description: 'Text that Skerry puts before each name, such as `shop/production/`. Only for secret-per-name.',
        }),
      ),
      secretName: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9/_+=.@-]{1,512}$',
          description: 'Name of the secret with all names. Needed for json-bundle, and allowed only for it.',
        }),
      ),
      kmsKeyId: KmsKeyId(2048),
    }),
    credential:
      'Secret access key of an IAM user. The user needs the permissions CreateSecret, PutSecretValue, UpdateSecret, DescribeSecret, RestoreSecret, DeleteSecret and ListSecrets. If the field layout of the binding is json-bundle, the user also needs GetSecretValue.',
  },
  'cloud-a-parameter-store': {
    config: Strict({ provider: Type.Literal('cloud-a-parameter-store'), region: Region, accessKeyId: AccessKeyId }),
    destination: Strict({
      provider: Type.Literal('cloud-a-parameter-store'),
      path: Type.String({
        maxLength: 900,
        pattern: '^/(?!(?:[Aa][Ww][Ss]|[Ss][Ss][Mm]))(?:[A-Za-z0-9_.-]+/){0,14}$',
        description: 'Path of the parameters. It starts and ends with a slash, such as `/shop/production/`.',
      }),
      type: Type.Union([Type.Literal('SecureString'), Type.Literal('String')], {
        description: 'Type of the parameters. AWS does not encrypt a String with a KMS key.',
      }),
      tier: Type.Union([Type.Literal('Standard'), Type.Literal('Advanced'), Type.Literal('Intelligent-Tiering')], {
        description:
          'Tier of the parameters. An Advanced parameter can have 8 KB instead of 4 KB, and AWS charges for it.',
      }),
      kmsKeyId: KmsKeyId(256),
    }),
    credential:
      'Secret access key of an IAM user. The user needs the permissions PutParameter, GetParametersByPath and DeleteParameters on the path of the binding. If the binding names a KMS key, the user must be allowed to use this key.',
  },
  'cloud-b-secret-manager': {
    config: Strict({
      provider: Type.Literal('cloud-b-secret-manager'),
      projectId: Type.String({
        pattern: '^(?:[a-z0-9.-]{1,63}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$',
        description: 'Id of the Google Cloud project that has the secrets. Not the number of the project.',
      }),
    }),
    destination: Strict({
      provider: Type.Literal('cloud-b-secret-manager'),
      layout: Layout,
      idPrefix: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,200}$',
          description: 'Text that Skerry puts before each name, such as `shop-production-`. Only for secret-per-name.',
        }),
      ),
      secretId: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,255}$',
          description: 'Id of the secret with all names. Needed for json-bundle, and allowed only for it.',
        }),
      ),
      replication: Type.Union([Type.Literal('automatic'), Type.Literal('user-managed')], {
        description:
          'Where Google stores new secrets: `automatic` lets Google choose, and `user-managed` uses the locations that you name.',
      }),
      locations: Type.Optional(
        Type.Array(Type.String({ pattern: '^[a-z][a-z0-9-]{1,62}$' }), {
          minItems: 1,
          maxItems: 50,
          uniqueItems: true,
          description: 'Locations for user-managed. The locations of an existing secret do not change.',
        }),
      ),
      kmsKeyName: Type.Optional(
        Type.String({
          pattern: '^projects/[^/\\s]{1,64}/locations/[a-z0-9-]{1,63}/keyRings/[\\w-]{1,63}/cryptoKeys/[\\w-]{1,63}$',
          description:
            'Full name of the KMS key with which Google encrypts new secrets. Only with automatic, or with a single location.',
        }),
      ),
      pruneVersions: Type.Optional(
        Type.Boolean({
          description:
            'If true, Skerry destroys the older versions that it wrote itself, after each push. Default: false.',
        }),
      ),
    }),
    credential:
      'Key of a service account, as the whole JSON file. The account needs the permissions secretmanager.secrets.create, .get, .list and .delete, and secretmanager.versions.add. If you turn on the field pruneVersions of the binding, the account also needs secretmanager.versions.destroy. If the field layout is json-bundle, the account also needs secretmanager.versions.access.',
  },
  'cloud-c-key-vault': {
    config: Strict({
      provider: Type.Literal('cloud-c-key-vault'),
      tenantId: Type.String({
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
        description: 'Id of the Entra tenant (directory) in which the application is registered.',
      }),
      clientId: Type.String({
        pattern: '^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
        description: 'Application (client) id of the registered application.',
      }),
      cloud: Type.Optional(
        Type.Union([Type.Literal('public'), Type.Literal('usgov'), Type.Literal('china')], {
          description: 'Azure cloud in which the vault is. Default: public.',
        }),
      ),
    }),
    destination: Strict({
      provider: Type.Literal('cloud-c-key-vault'),
      vault: Type.String({
        pattern: '^(?!.*--)[A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9]$',
        description: 'Name of the key vault, of 3 to 24 characters.',
      }),
      prefix: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9-]{1,100}$',
          description: 'Text that Skerry puts before each name, such as `shop-`.',
        }),
      ),
      nameMode: Type.Optional(
        Type.Union([Type.Literal('dash'), Type.Literal('reject')], {
          description:
            'What Skerry does with other characters than letters, digits and hyphens: `dash` replaces them with hyphens, `reject` does not push the name. Default: dash.',
        }),
      ),
    }),
    credential:
      'Client secret of the application that is registered in Entra. The application must be able to list, set, delete and recover secrets of the vault, for example with the role Key Vault Secrets Officer.',
  },
} satisfies Record<string, SyncRow>
