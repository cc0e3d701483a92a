/** Tasks of people who come from another product. The first step reads the old store, and the last one replaces its command. */
export const moving = [
  {
    title: 'Move from Doppler',
    words: 'migrate migration switch doppler secrets download run import',
    steps: [
      [
        'doppler secrets download --no-file --format json | skerry secrets import - --format json --literal',
        'Copy all values of a config',
      ],
      ['skerry run -- npm start', 'Use this instead of doppler run'],
    ],
    document: 'docs/migrate/doppler.md',
  },
  {
    title: 'Move from Infisical',
    words: 'migrate migration switch infisical export run import',
    steps: [
      [
        "infisical export --env=prod --format=json | jq 'map({(.key): .value}) | add' | skerry secrets import - --format json --literal --env production",
        'Copy all values of an environment',
      ],
      ['skerry run --env production -- npm start', 'Use this instead of infisical run'],
    ],
    document: 'docs/migrate/infisical.md',
  },
  {
    title: 'Move from HashiCorp Vault',
    words: 'migrate migration switch vault kv get openbao hashicorp engine import',
    steps: [
      [
        'vault kv get -format=json secret/shop | jq .data.data | skerry secrets import - --literal',
        'Copy all values of a path',
      ],
      ['skerry lease create shop-db -- psql', 'Use this instead of the database secrets engine'],
      ['skerry kms encrypt invoices --file invoice.pdf --out invoice.enc', 'Use this instead of transit'],
    ],
    document: 'docs/migrate/vault.md',
  },
  {
    title: 'Move from dotenvx or .env files',
    words: 'migrate migration switch dotenvx dotenv encrypted env file run import git-crypt sops',
    steps: [
      ['dotenvx get -f .env.production | skerry secrets import - --env production --literal', 'Copy all values'],
      ['skerry run --env production -- npm start', 'Use this instead of dotenvx run'],
    ],
    document: 'docs/migrate/dotenv.md',
  },
  {
    title: 'Move from 1Password',
    words: 'migrate migration switch op inject op run op read onepassword import bitwarden',
    steps: [
      ['op inject -i .env.tpl | skerry secrets import - --format dotenv', 'Copy the values that a template names'],
      ['skerry run -- npm start', 'Use this instead of op run'],
      ['skerry secrets substitute config.tpl --out config.yaml', 'Use this instead of op inject'],
    ],
    document: 'docs/command-line/files.md#env-files',
  },
] as const
