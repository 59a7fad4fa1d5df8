#!/usr/bin/env perl
# claude.pl [ARGUMENT...]: behaves at a terminal as Claude Code does, see Agent/Claude/CONTRACT.md:
# its file in sessions/, written in place, its dialogs, what it takes of pastes, its transcript. Its
# process is named claude. It does by itself, by the first word of a prompt:
#
#     slow N      works for N seconds        run WORDS   asks whether it may, then "runs" it
#     ask         asks a question            fail        ends with an error of the API
#     tool        says something, calls a tool, goes on
#     sub WORDS   as run, of a subagent in the background: no dialog while a hook holds it
#     blink       is through with it before its file says that it was at work
#
# Hooks for PermissionRequest, of settings.json and --settings, are run as the program runs them: each
# in a process group of its own, which a No ends, and of which a Yes says nothing. The first that prints
# a decision closes the dialog.
#
# `/clear` begins another conversation, `/resume ID` goes on with an earlier one. Anything else is
# repeated. `!WORDS` runs in a shell. A paste of nothing but the path of a picture is
# one. Of its environment: CLAUDE_STUB_OLD keeps no file in sessions/, CLAUDE_ASKS_TRUST asks
# whether it may work in the folder; CLAUDE_STUB_LOG is a file for what it was told, a line of JSON each,
# with whether that came as something pasted.
use strict;
use warnings;
use utf8;
use Encode qw(decode encode);
use Fcntl qw(:flock);
use JSON::PP;
use POSIX qw(strftime);
use Time::HiRes qw(time sleep);
my @arguments = @ARGV;

unless ($ENV{CLAUDE_STUB_NAMED}) {
    $ENV{CLAUDE_STUB_NAMED} = 1;
    exec { $^X } 'claude', $0, @ARGV or die "$^X: $!";
}
if (open my $name, '>', "/proc/$$/comm") { syswrite $name, 'claude' }
my $json   = JSON::PP->new->canonical;
my $config = $ENV{CLAUDE_CONFIG_DIR} // "$ENV{HOME}/.claude";
my ($cwd)  = (qx(pwd -P) =~ /(.*)/);
my $id;
my $place  = "$config/sessions/$$.json";
my $slug   = $cwd =~ s/[^A-Za-z0-9]/-/gr;
my $transcript;
my %state = (status => 'idle');
my ($last, $number, %allowed) = (undef, 0);

sub begin {
    $id = $_[0] // join '-', map { join '', map { sprintf '%x', rand 16 } 1 .. $_ } 8, 4, 4, 4, 12;
    $transcript = "$config/projects/$slug/$id.jsonl";
    ($last, $number) = (undef, int(rand 1000) * 10);
}
begin();

sub stamp { my $t = time; strftime('%Y-%m-%dT%H:%M:%S', gmtime $t) . sprintf('.%03dZ', ($t - int $t) * 1000) }

sub began {
    open my $file, '<', "/proc/$$/stat" or return undef;
    my $line = <$file>;
    return (split ' ', $line =~ s/.*\) //r)[19];
}

# In place, and not at once: who reads meanwhile has a part of it.
sub stand {
    my ($status, $waits) = @_;
    $state{status} = $status;
    show("\e]0;", $status eq 'busy' ? "\x{25d0}" : "\x{2733}", " site\a");
    return if $ENV{CLAUDE_STUB_OLD};
    my $now  = int(time * 1000);
    my %said = (
        pid => $$ + 0, sessionId => $id, cwd => $cwd, startedAt => $now, procStart => began(),
        kind => 'interactive', entrypoint => 'cli', version => '2.1.332', name => 'site-3f',
        nameSource => 'derived', status => $status, statusUpdatedAt => $now, updatedAt => $now,
        peerFeatures => ['notify_idle'],
    );
    $said{waitingFor} = $waits if defined $waits;
    my $text = $json->encode(\%said);
    open my $file, '>', $place or die "$place: $!";
    syswrite $file, substr $text, 0, 60;
    sleep 0.005;
    syswrite $file, substr $text, 60;
    close $file;
}

sub line {
    my (%line) = @_;
    my $uuid = sprintf '%s-%04d', substr($id, 0, 31), ++$number;
    my $text = $json->encode({
        parentUuid => $last, isSidechain => JSON::PP::false, cwd => $cwd, sessionId => $id,
        version => '2.1.332', uuid => $uuid, timestamp => stamp(), %line,
    });
    $last = $uuid;
    open my $file, '>>', $transcript or die "$transcript: $!";
    syswrite $file, "$text\n";
    close $file;
}

sub answer {
    my ($stop, @blocks) = @_;
    my $message = 'msg_' . substr($id, 0, 8) . $number;
    line(type => 'assistant', requestId => "req_$number", message => {
        id => $message, type => 'message', role => 'assistant', model => 'claude-opus-5-5',
        content => \@blocks, stop_reason => $stop,
        usage => { input_tokens => 10, output_tokens => 5, cache_read_input_tokens => 100,
            cache_creation_input_tokens => 0 },
    });
}

sub text_block { { type => 'text', text => $_[0] } }

sub show { syswrite STDOUT, encode 'UTF-8', join '', map { s/\n/\r\n/gr } @_ }
sub prompt { show("\n────────\n❯ ") }

# The bytes that are there within some seconds; the end of input ends it.
sub bytes {
    my ($seconds) = @_;
    my $set = '';
    vec($set, 0, 1) = 1;
    return '' unless select $set, undef, undef, $seconds;
    sysread STDIN, my $bytes, 65536 or leave();
    return $bytes;
}

sub leave { unlink $place; system 'stty', 'sane'; exit 0 }
$SIG{TERM} = $SIG{HUP} = \&leave;

# The commands that are called when a permission is asked for.
sub hooks {
    my @settings = map { decode_json($_) } map { $arguments[$_] eq '--settings' ? encode('UTF-8', $arguments[$_ + 1]) : () } 0 .. $#arguments - 1;
    if (open my $file, '<', "$config/settings.json") { local $/; push @settings, decode_json(<$file>) }
    return map { $_->{command} } map { @{ $_->{hooks} } } map { @{ $_->{hooks}{PermissionRequest} // [] } } @settings;
}

# Calls them: [output, process, what it printed], and none of them is waited for.
sub asked {
    my (%request) = @_;
    my $text = $json->utf8->encode({
        session_id => $id, transcript_path => $transcript, cwd => $cwd, permission_mode => 'default',
        hook_event_name => 'PermissionRequest', %request,
    });
    $json->utf8(0);
    return map {
        my $command = $_;
        pipe my $its, my $give;
        pipe my $take, my $out;
        my $child = fork // die "fork: $!";
        unless ($child) {
            setpgrp;
            $SIG{$_} = 'DEFAULT' for qw(TERM HUP);
            open STDIN, '<&', $its;
            open STDOUT, '>&', $out;
            open STDERR, '>', '/dev/null';
            close $_ for $give, $take;
            exec '/bin/sh', '-c', $command or exit 127;
        }
        close $_ for $its, $out;
        syswrite $give, $text;
        close $give;
        [$take, $child, ''];
    } hooks();
}

# The decision that one of them has printed by now, within some seconds; keys end the wait, too.
sub decided {
    my ($seconds, $hooks) = @_;
    my $set = '';
    vec($set, fileno $_, 1) = 1 for \*STDIN, map { $_->[0] } @$hooks;
    select $set, undef, undef, $seconds;
    for my $hook (@$hooks) {
        next unless vec $set, fileno $hook->[0], 1;
        next if sysread $hook->[0], $hook->[2], 65536, length $hook->[2];
        @$hooks = grep { $_ != $hook } @$hooks;
        waitpid $hook->[1], 0;
        my $said = eval { decode_json($hook->[2])->{hookSpecificOutput}{decision} };
        return $said if $said;
    }
    return undef;
}

# Which of these is chosen: its number in the list; undef for Escape; an object for what a hook decided.
sub choose {
    my ($cursor, $has_numbers, @labels) = @_;
    my $hooks = ref $labels[0] ? shift @labels : [];
    my $chosen = choose_with($hooks, $cursor, $has_numbers, @labels);
    unless (ref $chosen || defined $chosen && $labels[$chosen] ne 'No') {
        kill 'TERM', -$_->[1] for @$hooks;
        my $end = time + 1.6;
        for my $hook (@$hooks) {
            sleep 0.02 until waitpid($hook->[1], POSIX::WNOHANG()) || time > $end;
            kill 'KILL', -$hook->[1];
        }
    }
    return $chosen;
}

sub choose_with {
    my ($hooks, $cursor, $has_numbers, @labels) = @_;
    while (1) {
        show("\e[J", (map {
            ($_ == $cursor ? ' ❯ ' : '   ') . ($has_numbers ? ($_ + 1) . '. ' : '') . "$labels[$_]\n"
        } 0 .. $#labels), " Enter to confirm · Esc to cancel\n", sprintf "\e[%dA", @labels + 1);
        my $set = '';
        if (@$hooks) {
            my $said = decided(60, $hooks);
            if ($said) { show("\e[J"); return $said }
            vec($set, 0, 1) = 1;
            next unless select $set, undef, undef, 0;
        }
        my $keys = bytes(60);
        while ($keys =~ s/^(\e\[[AB]|\e\[200~.*?\e\[201~|.)//s) {
            my $key = $1;
            if ($key eq "\e[A") { $cursor = ($cursor - 1) % @labels }
            elsif ($key eq "\e[B") { $cursor = ($cursor + 1) % @labels }
            elsif ($key eq "\r") { show("\e[J"); return $cursor }
            elsif ($key eq "\e") { show("\e[J"); return undef }
        }
    }
}

# Whether it went on to the end: Escape interrupts it.
sub work {
    my ($seconds) = @_;
    my $end = time + $seconds;
    while ((my $rest = $end - time) > 0) { return 0 if bytes($rest) =~ /^\e$/ }
    return 1;
}

sub interrupt {
    line(type => 'user', message => { role => 'user',
        content => [text_block('[Request interrupted by user]')] });
}

sub turn {
    my ($said) = @_;
    my $began = time;
    stand('busy') unless $said =~ /^blink/;
    line(type => 'user', promptSource => 'typed', message => { role => 'user', content => $said });
    if ($said =~ /^slow ([\d.]+)/) {
        return interrupt() unless work($1);
        answer('end_turn', text_block("slept $1"));
    } elsif ($said =~ /^(run|tool|sub) (.*)/) {
        my ($does, $command) = ($1, $2);
        my $call = { type => 'tool_use', id => "toolu_$number", name => 'Bash', input => { command => $command } };
        answer('tool_use', text_block('I will run that.'), $call);
        if ($does ne 'tool' && !$allowed{$command}) {
            my %asks = (tool_name => 'Bash', tool_input => { command => $command, description => 'Run what was asked' },
                permission_suggestions => [{ type => 'addRules', behavior => 'allow', destination => 'session',
                    rules => [{ toolName => 'Bash', ruleContent => $command }] }]);
            my @hooks = asked(%asks, $does eq 'sub' ? (agent_id => 'a4a13f9f391547476', agent_type => 'general-purpose') : ());
            my $chosen;
            while ($does eq 'sub' && @hooks) { last if $chosen = decided(60, \@hooks) }
            unless ($chosen) {
                stand('waiting', 'permission prompt');
                show("\n Bash command\n $command\n Do you want to proceed?\n");
                $chosen = choose(0, 1, \@hooks, 'Yes', "Yes, and don't ask again for $command", 'No');
            }
            if (ref $chosen) {
                $allowed{$command} = 1 if $chosen->{updatedPermissions};
                $command = $chosen->{updatedInput}{command} // $command;
                my $message = $chosen->{behavior} eq 'deny' ? $chosen->{message} // 'Permission denied by hook' : undef;
                stand('busy');
                if (defined $message) {
                    line(type => 'user', message => { role => 'user', content => [{
                        type => 'tool_result', tool_use_id => $call->{id}, is_error => JSON::PP::true, content => $message }] });
                    return answer('end_turn', text_block("Not done: $message"));
                }
                $chosen = 0;
            }
            stand('busy') if ($chosen // 2) < 2;
            unless (($chosen // 2) < 2) {
                line(type => 'user', toolDenialKind => 'user-rejected', message => { role => 'user', content => [{
                    type => 'tool_result', tool_use_id => $call->{id}, is_error => JSON::PP::true,
                    content => "The user doesn't want to proceed with this tool use.",
                }] });
                return interrupt();
            }
        }
        line(type => 'user', message => { role => 'user', content => [{
            type => 'tool_result', tool_use_id => $call->{id}, content => "did $command" }] });
        answer('end_turn', text_block("Done: $command"));
    } elsif ($said =~ /^ask/) {
        stand('waiting', 'input needed');
        show("\nWhich harbour do you mean?\n");
        my $harbours = { question => 'Which harbour do you mean?', header => 'Harbour', multiSelect => JSON::PP::false,
            options => [{ label => 'Inner', description => 'The inner one' }, { label => 'Outer', description => 'The outer one' }] };
        my @hooks = asked(tool_name => 'AskUserQuestion', tool_input => { questions => [$harbours] });
        my $chosen = choose(0, 1, \@hooks, 'Inner', 'Outer');
        return interrupt() unless defined $chosen;
        if (ref $chosen) {
            stand('busy');
            return answer('end_turn', text_block("Not said: " . ($chosen->{message} // ''))) if $chosen->{behavior} eq 'deny';
            return answer('end_turn', text_block("You mean: $chosen->{updatedInput}{answers}{'Which harbour do you mean?'}"));
        }
        answer('end_turn', text_block('You mean the ' . ('inner', 'outer')[$chosen]));
    } elsif ($said =~ /^fail/) {
        line(type => 'assistant', isApiErrorMessage => JSON::PP::true, message => {
            id => "msg_$number", role => 'assistant', model => '<synthetic>', stop_reason => 'stop_sequence',
            content => [text_block('API Error: 529 overloaded')], usage => {} });
    } else {
        answer('end_turn', text_block($said));
    }
    line(type => 'system', subtype => 'turn_duration', durationMs => int((time - $began) * 1000));
}

mkdir $_ for $config, "$config/sessions", "$config/projects", "$config/projects/$slug";
system 'stty', 'raw', '-echo';
show("\e[?2004h");
if ($ENV{CLAUDE_ASKS_TRUST}) {
    show(" Is this a project you created or one you trust?\n");
    my $chosen = choose(0, 0, 'No, exit', 'Yes, I trust this folder');
    leave() unless $chosen;
}
stand('idle');
prompt();
my ($line, $is_pasted, $rest) = ('', 0, '');
while (1) {
    $rest .= bytes(600);
    while ($rest ne '') {
        last if $rest =~ /^\e(\[?$|\[2)/ && $rest !~ /\e\[201~/ && $rest ne "\e";
        if ($rest =~ s/^\e\[200~(.*?)\e\[201~//s) {
            my $paste = decode 'UTF-8', $1;
            $is_pasted = 1 if length(encode 'UTF-16LE', $paste) > 1600 || ($paste =~ tr/\n//) > 2;
            $paste = '[Image #1] ' if $paste =~ m{^\s*(/\S+\.(?:png|jpe?g|gif|webp))\s*$} && -e $1;
            $line .= $paste =~ s/\t/    /gr;
        } elsif ($rest =~ s/^\r//) {
            my $said = $line =~ s/\s+$//r;
            my $was_pasted = $is_pasted;
            ($line, $is_pasted) = ('', 0);
            next if $said eq '';
            if (my $log = $ENV{CLAUDE_STUB_LOG}) {
                open my $file, '>>', $log or die "$log: $!";
                print $file $json->utf8->encode({ said => $said, pasted => $was_pasted ? JSON::PP::true : JSON::PP::false }), "\n";
                $json->utf8(0);
            }
            if ($said =~ /^!(.*)/) { system 'sh', '-c', $1; prompt(); next }
            leave() if $said eq '/exit';
            if ($said =~ m{^/(?:clear|resume (\S+))$}) { begin($1); stand('idle'); prompt(); next }
            turn(encode 'UTF-8', $said);
            stand('idle') unless $said =~ /^blink/;
            prompt();
        } elsif ($rest =~ s/^([^\e\r]+|\e)//) {
            my $text = decode 'UTF-8', $1;
            $is_pasted = 1 if length $text > 800;
            $line .= $text unless $text eq "\e";
            show($text) unless $text eq "\e";
        } else {
            last;
        }
    }
}
