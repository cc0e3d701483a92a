import { Button, MultiSelect, NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core'
import type { ConfigField } from '@skerry/contract/fields'
import { useState } from 'react'
import { labelOf } from './config-labels.ts'
import type { ApiForm } from './use-api-form.ts'
import type { ConfigValues } from './use-config-form.ts'

interface Props {
  form: ApiForm<ConfigValues>
  fields: readonly ConfigField[]
}

/** Shows the required settings, and the optional ones after a click on "More settings". */
export function ConfigFields({ form, fields }: Props) {
  const [showsAll, setShowsAll] = useState(false)
  const hidden = fields.filter(({ required }) => !required)
  // A field with an error must be visible.
  const isOpen = showsAll || hidden.some(({ path }) => form.errors[`config.${path}`] !== undefined)
  return (
    <Stack>
      {fields.map((field) => field.required && <ConfigInput key={field.path} form={form} field={field} />)}
      {hidden.length > 0 && !isOpen && (
        <Button variant="subtle" size="xs" w="fit-content" onClick={() => setShowsAll(true)}>
          More settings
        </Button>
      )}
      {isOpen && hidden.map((field) => <ConfigInput key={field.path} form={form} field={field} />)}
    </Stack>
  )
}

function ConfigInput({ form, field }: { form: ApiForm<ConfigValues>; field: ConfigField }) {
  const { path, kind, choices, columns, required } = field
  const description = plain(`${field.description}${howWritten(field)}`)
  const { value, onChange, ...input } = form.getInputProps(`config.${path}`)
  const common = { ...input, label: labelOf(path), description, value: value ?? '' }
  const texts = { ...common, onChange, autoComplete: 'off', spellCheck: false }
  if (kind === 'choice' || kind === 'yes-no')
    return (
      <Select
        {...common}
        data={kind === 'choice' ? choices : ['yes', 'no']}
        value={value || null}
        onChange={(to) => onChange(to ?? '')}
        clearable={!required}
        allowDeselect={!required}
      />
    )
  if (kind === 'some')
    return (
      <MultiSelect
        {...common}
        data={choices}
        value={value ? value.split('\n') : []}
        onChange={(to) => onChange(to.join('\n'))}
      />
    )
  if (kind === 'number') return <NumberInput {...common} allowDecimal={false} onChange={(to) => onChange(String(to))} />
  if (kind === 'text') return <TextInput {...texts} />
  return (
    <Textarea
      {...texts}
      classNames={{ input: 'mono' }}
      autosize
      minRows={2}
      maxRows={8}
      placeholder={columns.join(' ')}
    />
  )
}

function howWritten({ kind, columns }: ConfigField): string {
  if (kind === 'lines' || kind === 'numbers') return ' One on each line.'
  if (kind === 'lists') return ' One name on each line, followed by its values.'
  return kind === 'rows' ? ` One on each line: ${columns.join(' ')}.` : ''
}

/**
 * Removes backticks from a description. The API reference shows the same descriptions, with the text in backticks as
 * code.
 */
const plain = (description: string) => description.replaceAll('`', '')
