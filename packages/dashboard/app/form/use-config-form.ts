import { useForm } from '@mantine/form'
import type { ConfigField } from '@skerry/contract/fields'
import { useRef } from 'react'
import { configOf, emptyTexts, setAt, type Texts, textAt } from './config-fields.ts'
import { type BrokenRule, messageOf, requiredMessage } from './messages.ts'
import type { ApiForm } from './use-api-form.ts'

/** How a config is checked. Loaded together with its schema. */
export interface ConfigRules {
  fields: readonly ConfigField[]
  /** Values of the config that are not fields of the form. */
  fixed: Readonly<Record<string, string>>
  /** Returns the schema rules that the config breaks. */
  broken: (config: object) => (BrokenRule & { instancePath: string })[]
  /** Returns a problem between several fields, as `<path>: <reason>`, or null. */
  problem: (config: object) => string | null
}

export interface ConfigValues {
  config: Texts
}

/**
 * A form for a config. It has a text for each field of every kind that can be chosen. Messages and refusals of the
 * server appear at the fields, as with `useApiForm`. The rules may depend on the typed texts.
 *
 * @example
 * const form = useConfigForm(allFields, () => rules[kind], { port: '5432' })
 * <ConfigFields form={form} fields={rules.fields} />
 */
export function useConfigForm(
  fields: readonly ConfigField[],
  rulesFor: (texts: Texts) => ConfigRules,
  start: Readonly<Record<string, string>>,
): ApiForm<ConfigValues> {
  const latest = useRef(rulesFor)
  latest.current = rulesFor
  return useForm<ConfigValues>({
    initialValues: { config: withTexts(emptyTexts(fields), start) },
    validate: ({ config }) => configErrors(latest.current(config), config),
  })
}

/** Returns a copy of the texts with some of them replaced. */
export function withTexts(texts: Texts, others: Readonly<Record<string, string>>): Texts {
  const changed = structuredClone(texts)
  for (const [path, text] of Object.entries(others)) setAt(changed, path, text)
  return changed
}

/** Converts the typed texts to the config for the API. */
export const readConfig = ({ fields, fixed }: Pick<ConfigRules, 'fields' | 'fixed'>, texts: Texts) => ({
  ...fixed,
  ...configOf(fields, texts),
})

/** Returns messages by form path: `config.connection.host`. */
function configErrors(rules: ConfigRules, texts: Texts): Record<string, string> {
  const { fields, broken, problem } = rules
  const errors: Record<string, string> = {}
  for (const { path, required } of fields)
    if (required && textAt(texts, path).trim() === '') errors[`config.${path}`] = requiredMessage
  if (Object.keys(errors).length > 0) return errors
  const config = readConfig(rules, texts)
  for (const { instancePath, ...rule } of broken(config)) {
    const field = fields.find(({ path }) => isWithin(instancePath, path) || isWithin(path, instancePath)) ?? fields[0]
    errors[`config.${field?.path}`] ??= messageOf(rule)
  }
  const between = Object.keys(errors).length > 0 ? null : problem(config)
  const [, path, reason] = /^([\w.]+)(?:\[\d+\])?: (.+)$/s.exec(between ?? '') ?? []
  if (path && reason) errors[`config.${path}`] = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
  return errors
}

/** Whether `path` equals `other` or is below it. Both may use dots or slashes. */
function isWithin(path: string, other: string): boolean {
  const [inner = '', outer = ''] = [path, other].map((one) => `${one.replace(/^\//, '').replaceAll('/', '.')}.`)
  return inner.startsWith(outer)
}
