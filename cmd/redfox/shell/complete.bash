# bash completion for redfox: source <(redfox completion bash)
_redfox_complete() {
    local cur=${COMP_WORDS[COMP_CWORD]}
    local line=("${COMP_WORDS[@]:0:COMP_CWORD}")
    [[ $cur == -* ]] && line+=("$cur")
    if [[ $cur == -* || $COMP_CWORD -eq 1 || $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ]]; then
        COMPREPLY=($(compgen -W "$("${line[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
    fi
}
complete -o bashdefault -o default -F _redfox_complete redfox
