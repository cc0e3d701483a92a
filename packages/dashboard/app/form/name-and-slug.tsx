import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { slugOf } from '../slug.ts'
import { NameField } from './name-field.tsx'
import type { ApiForm } from './use-api-form.ts'

/** Fields for a name and a slug. The slug follows the name until someone types a slug. */
export function NameAndSlug({
  form,
  placeholder,
}: {
  form: ApiForm<{ name: string; slug: string }>
  placeholder?: string
}) {
  const [isOwnSlug, setIsOwnSlug] = useState(false)
  const { onChange: setName, ...name } = form.getInputProps('name')
  const { onChange: setSlug, ...slug } = form.getInputProps('slug')
  return (
    <>
      <NameField
        placeholder={placeholder ?? ''}
        {...name}
        onChange={(event) => {
          setName(event)
          if (!isOwnSlug) form.setFieldValue('slug', slugOf(event.currentTarget.value))
        }}
      />
      <TextInput
        label="Slug"
        description="Used in addresses and commands. It never changes."
        classNames={{ input: 'mono' }}
        autoComplete="off"
        {...slug}
        onChange={(event) => {
          setIsOwnSlug(true)
          setSlug(event)
        }}
      />
    </>
  )
}
